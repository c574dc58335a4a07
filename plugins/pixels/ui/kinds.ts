/** What the kinds of pixels are called, and what an open of each means. */
import type { PixelKind } from "../pixel.ts"

export const KIND_WORDS: Readonly<Record<PixelKind, string>> = { email: "E-mail", rss: "Feed", readme: "README", page: "Foreign page" }

const PROXIES = "A proxy fetches the picture in the reader's place: when and how often is told, where and with which device is not."
const BLOCKERS =
  "Blockers and programs that show no pictures hide real readers: there are more than are counted here, never known how many."

/** In the order of importance for the kind. */
export const MEANINGS: Readonly<Record<PixelKind, readonly string[]>> = {
  email: [
    "An open says that a program loaded the picture of the mail. It does not say that somebody read it.",
    "Apple Mail and the scanners of mail gateways load pictures that nobody saw. These opens are told apart as prefetched.",
    `Gmail and Yahoo: ${PROXIES}`,
    BLOCKERS,
  ],
  rss: [
    "An open says that a feed reader showed the entry, or loaded it ahead of time.",
    "Readers that are a web service load the picture once for all who follow the feed there.",
    BLOCKERS,
  ],
  readme: [
    "An open says that a page with the README was shown.",
    `GitHub: ${PROXIES} It may keep the picture for a while although it is told not to, so views are missing.`,
    "Registries and mirrors that copy the README show the picture too: it is not only your repository that is counted.",
  ],
  page: [
    "An open says that a browser showed the page the picture is on, or a part of it.",
    "Nothing else of the visit is known: no time, no further page. Opens are in no figure of the site.",
    BLOCKERS,
  ],
}
