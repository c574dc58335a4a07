/** Labels of the kinds of pixels, and what an open of each kind means. */
import type { PixelKind } from "../pixel.ts"

export const KIND_WORDS: Readonly<Record<PixelKind, string>> = {
  email: "Email",
  rss: "Feed",
  readme: "README",
  page: "Someone else's page",
}

const PROXY = "loads images through a proxy, so you see when and how often, but not where or on which device."
const BLOCKERS = "Blockers and programs that don't load images hide real readers, so the real number is higher by an unknown amount."

/** Explanations by kind, the most important first. */
export const MEANINGS: Readonly<Record<PixelKind, readonly string[]>> = {
  email: [
    "An open means that a program loaded the image of the email. It does not mean that someone read it.",
    "Apple Mail and email security gateways load images that no one has seen. These are listed separately as prefetched.",
    "Gmail and Yahoo load images through a proxy, so you see when and how often, but not where or on which device.",
    BLOCKERS,
  ],
  rss: [
    "An open means that a feed reader showed the entry or preloaded it.",
    "Web-based feed readers load the image once for all their subscribers.",
    BLOCKERS,
  ],
  readme: [
    "An open means that a page with the README was shown.",
    `GitHub ${PROXY} It may cache the image despite being asked not to, so some views are missing.`,
    "Package registries and mirrors that copy the README load the image, too, so opens are not limited to your repository.",
  ],
  page: [
    "An open means that a browser showed the page with the image, or a part of it.",
    "Nothing else is known about the visit, such as its duration or other pages. Opens are not included in the site's metrics.",
    BLOCKERS,
  ],
}
