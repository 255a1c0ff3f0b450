// A page that is read from a disk may not start workers. Search needs one, so a hidden frame takes its place there.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      this.waiting = [];
      inside.postMessage = (data) => {
        this.dispatchEvent(new MessageEvent("message", { data }));
      };
      const script = inside.document.createElement("script");
      script.src = new URL(url, location.href).href;
      script.addEventListener("load", () => {
        this.inside = inside;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
      inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
}
