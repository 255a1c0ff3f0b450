"""Threads that share out work, and how many processors there are for them."""

import threading

import pytest

from tapeflow._src.core.system import processors, workers


class TestWorkers:
    def test_an_interruption_waits_for_what_others_write(self):
        pool = workers.Workers(2)
        begun, written = threading.Event(), []

        def slowly():
            begun.set()
            threading.Event().wait(0.2)
            written.append(True)

        def interrupted():
            begun.wait()
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pool.run([slowly, interrupted])
        assert written
        done = []
        pool.run([lambda: done.append(1), lambda: done.append(2)])
        assert sorted(done) == [1, 2]

    def test_errors_are_raised_where_the_work_was_given(self):
        def fail():
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            workers.Workers(2).run([fail, lambda: None])

    def test_who_finds_them_in_use_works_alone(self):
        pool = workers.Workers(2)
        names = []

        def note():
            names.append(threading.current_thread().name)

        pool.run([lambda: pool.run([note, note]), lambda: None])
        assert len(set(names)) == 1  # both in the thread that asked
        pool.run([lambda: None, lambda: pool.run([note, note])])
        assert len(set(names[2:])) == 1

    def test_a_batch_that_was_interrupted_at_its_beginning_goes_without_a_word(self, monkeypatch):
        untold = []
        monkeypatch.setattr("sys.unraisablehook", untold.append)
        workers._Batch.__new__(workers._Batch)
        assert untold == []

    def test_they_are_free_again_after_an_interruption_that_came_too_late(self, monkeypatch):
        pool = workers.Workers(2)

        def interrupted(batch):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(workers._Batch, "leave", interrupted)
            with pytest.raises(KeyboardInterrupt):
                pool.run([lambda: None, lambda: None])
        names = []

        def note():
            threading.Event().wait(0.01)
            names.append(threading.current_thread().name)

        pool.run([note, note])
        assert len(set(names)) == 2


class TestProcessors:
    def test_a_container_may_be_given_less(self, tmp_path, monkeypatch):
        monkeypatch.setattr(processors, "_CONTROL_GROUPS", tmp_path)
        monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
        count = processors.processors.__wrapped__
        assert count() == 64
        (tmp_path / "cpu.max").write_text("max 100000\n")
        assert count() == 64
        (tmp_path / "cpu.max").write_text("100000 100000\n")
        assert count() == 1
        (tmp_path / "cpu.max").write_text("250000 100000\n")
        assert count() == 3

    def test_of_the_first_kind(self, tmp_path, monkeypatch):
        monkeypatch.setattr(processors, "_CONTROL_GROUPS", tmp_path)
        monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
        (tmp_path / "cpu").mkdir()
        (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
        (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
        assert processors.processors.__wrapped__() == 64
        (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("200000\n")
        assert processors.processors.__wrapped__() == 2
