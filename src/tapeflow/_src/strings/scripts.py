"""The script of each character of Unicode, by the numbers that ICU gives to scripts and TensorFlow returns."""

from __future__ import annotations

import base64
import functools
import zlib
from typing import Any

import numpy as np

NAMES = (
    *("Common", "Inherited", "Arabic", "Armenian", "Bengali", "Bopomofo", "Cherokee", "Coptic"),
    *("Cyrillic", "Deseret", "Devanagari", "Ethiopic", "Georgian", "Gothic", "Greek", "Gujarati"),
    *("Gurmukhi", "Han", "Hangul", "Hebrew", "Hiragana", "Kannada", "Katakana", "Khmer", "Lao"),
    *("Latin", "Malayalam", "Mongolian", "Myanmar", "Ogham", "Old_Italic", "Oriya", "Runic"),
    *("Sinhala", "Syriac", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan"),
)
"""Of the scripts whose names regular expressions know: the place of each is its number."""

# Runs of characters of one script: how many they are, and its number and one, in groups of seven bits, compressed.
_RUNS = (
    "c-nndTZ~p$70%jwpX+})|7B+WnKPIFXP6svfti7Unc+4t79pJim3s>f4@kaBE0@qV6w*#wEQkeZNuY%Y2$TYClxh"
    "niRKRHZU`%|_MibKqUrkIOjQXI7-#+tqG>!4$TWjsLFK6BM+Gm->u}jPmi6g?1QY=y?9_qML94eGsBYTwLtd0~cm"
    "&ia8Zgpa1)DTOfte=a%C4o}cB@lENg+W3a!GanejWq^tO$v?{afvJ;n)}HsM5t3L)}o%F+^VxP1&d~K_so7h*pbD"
    ";&6GFKepw-US<tjWK{g0dGlx*iGYUF|i2IuL<0+$}l#)1Q9D(mBD58$CM~I_gI1Z|M<M`AW$^wVu214frZl1b4_f"
    "hr;H4T23+^Np%yyn=0q0aJrK7`H*0>bh-!Xp&n<P^fHUQ?D_1Vf(AdC3}Gp}iH_MbuID2t_y?2UWeUc!ZhO7b+oC"
    "8|`h=(By{Pj)hQ(Z1o!HHUnpR4Zq#y5?R!?Imop0+eC@TwQKm*v1#|964{|l+c^%}Gj-GuB_br8I$BrNnL6$uB#~"
    "7zuj(?$G;*GpTjg$}L9S6Dw&PZ2uT`U-JRqc1!Q)t3SuM$!QE7D%Qm<Rn80}>BNmFM#R0C%Thp4a0r3RIZt?W_`3"
    "DZ!)$}T}$mqBO31rgzO8BtyBxG2pX8E(lqghEe7#AGH_aaEdLq-hPgROMM!KI4DPMdTw@d7P-EHR803jh=!_Oggi"
    "gTQnY>p(QoLL#Br&^rTSRt0X{8UmBU&3<sfRr}0!hjjwkTs3t{^MS>=VyvfCuCJ#ML4pz(xQ63Pa2TTGPV4??Fh8"
    "TjO6nYmK#EV>{7O@N#RqC6DSwh20cL|zzDWrDsY$8iJua;tBsX^aTjj?_6#(bEu;dL4jq1W|)GYI%SMn-4+eLgge"
    "$q=40!tOxu&T{OaBX%MQ21pH&i6vMOOEjvOA~mVvI`$8j=%{kP+B?2LnYtnJh{z^u1VwV&V*(=0&ukLjc{VDQP&O"
    "cBVvUOAFhfP?U{9hkY-z&Mk~lB3*ia14IMTokwYccXq?+?r=AC;4Ps^MUfkh?W?>q4P|1N~##jNJVS;*p2I!H48|"
    "4<3mNgv{ZU`rv5Po)skU|u?r0^3}nL4tx&s_2U;FmBjb%WN=gx>n?g5_!o%k1Kep$V(^{w@uQ>mC78ANxAsA%qfX"
    "%E?pCOFt;!!|GF#%jpISL#)9qu{fFg!wW9{xgUzpsk5<`9w}%*{Anryg?pvr4ii_bVeXQ8yBfZB(B{h33?ONNmI|"
    "bR@T+~>-hOSGvhRtP7xtT3{JV17wRY;ieO7r-n)WeyS(*6)G%X<p{2}}=Pjez+!v7+B=z1jP@cfX4(n~G_aiUtG4"
    "!^`m(RZ#dwp#xr=hGQJWH7pN82vtQ`vrp&oXT?&>VN5H`*Imex=als$t5h(PF)R|s#+VPl5#cl)VqT}7w3LJlSsz"
    "1NrgLslO+$0+aiu3A)5HEdD2Rz7p@?WuAv@TLgM$ui_4J8GAZu8G8A=k(p+?jzyhqPy3_Kk{R3n$Ql>_K<W0rY*!"
    "a>V?x-`FSi9vQrH`a#z^IGOI9&=r^y>Ay=()Dd7Yu-g+1}@4;!ELoZK;8Nf{`$ArzWV7<zo3^;{rqq;u6vG`;kn8"
    "iQa;Je!Aa>y@iLuJmw5r5%hI%!E4RkavV@-<LuFI_34W;N1l^oXX_N~`9r)y$XdY!WMh(JIc6OrjnpD0k6?DGHhV"
    "o*7`Oh;_&)2=gyZTb`Aom?C9O7GdC=Kt>TCCc#0COM95FXsex^B~+@U~o4C^H}34{4Ns$nUC$vKn1?INSXb*@&i}"
    "NexOrWy@Q=+@NJS!?%3-0fyiJU*EUIL-;mRJoExzg%^BuexD1szs0j^T2m;Tr_g&|mce_6l2~Fai7ZLI!;K5yWE{"
    "dbDVbx``NymUmekpyXNj`Ju|!lbJ+Cd1W86sM*p<o>ZC8Fru=PE=={;$|$_v)f3vyL3|6MNXcvo8S$Q5QWyu#g?r"
    "XohpT0hRpd^BF-is%w^kh>%g_($_&*@1PZc)8`2c=zomE%EPLyDVv`N-WF!bUnN;E8yR=>9ZttPa3iEM>JsF2hxm"
    "@t8#>w{5rSvS(3fZl5W0EqboP8%Qvj<hOB~j)1GQc?@e37)5GAVb>=4Rc0aT_OWLO;>gdOZa*L_?NNzJ=hb6*bTZ"
    "aD*XT6;}v3n<jvNMHW$j*DU_@Td&C$9XYj8Dw><jy$mm{)l~`81CTPcsJUv}{Mq5t`;6p`|M(LWC2{3Q;@Zpg3{U"
    "!IQV->v(jV!N@lLPHh{5oD(@Cd|)0h#Hx_RKjxgH(Ua~u`BXoUZUpD#?~g!A=T+?hbZs7{<l}XHMh+LS>nL-XIcj"
    "h4QR~Z5e%l-sBY*6`-`MTYNyQTOj=cEn#-3^sqZUdDE26WkIp%2-v(O+%1RLnZS8Zf$(rne(qr^T-k~ALMQkEqhi"
    "TSLKo075ESAc7#+Rkt7#w(T#%InVF2+m#>@ZR5q@c0nrM^wTU;f(x_iM`8x*}GgG-nAjTE1xTjeoVLIW0?%`OF7Q"
    "D+;N$OiECUCTB5GW8!o;g6Id)irwP1}jf6`6ww3+kMyRLsQ-9#BdTpxm6!e$Ye;HrQ*)zQASznxI&(3QnIm1chd0"
    "c-&p_jJpU{E7_E9||s<;E=hKx7zvKWdd^l0^ZNr6dbin1<hb%(v~m7W=t<3un`8BldwEwgt@k?ILeU(y|%{c<k52"
    "J_=l%rPAR>ZEtmwOfTV@pYj;BQ#N@Eq@Aa{=Hs(pt3oS2suWWAO!!p2(#MMXV6<?d9_LNrPbvJWqj2jFJ<Mhcw#%"
    "g8b5SS%nZmyT)|O94"
)


def scripts(codes: Any) -> np.ndarray:
    """The number of the script of each code point; -1 for what is none."""
    codes = np.asarray(codes)
    starts, numbers = _runs()
    found = numbers[np.searchsorted(starts, codes, side="right") - 1]
    return np.where((codes < 0) | (codes > 0x10FFFF), np.int32(-1), found)


@functools.cache
def _runs() -> tuple[np.ndarray, np.ndarray]:
    numbers: list[int] = []
    number = shift = 0
    for byte in zlib.decompress(base64.b85decode("".join(_RUNS))):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number = shift = 0
    lengths = np.array(numbers[::2])
    return np.cumsum(lengths) - lengths, np.array(numbers[1::2], np.int32) - 1
