import { type Reading, readBody } from "./native.ts"

/** The picture of a page without scripts: `/p.gif?d=<site>&u=<url>&r=<referrer>`. Without `u` the page is the one that shows it. */
export function readPixel(url: string, referer: string): Reading {
  const start = url.indexOf("?")
  const query = new URLSearchParams(start < 0 ? "" : url.slice(start + 1))
  const sent = { d: query.get("d"), u: query.get("u") ?? (referer || undefined), r: query.get("r") }
  return readBody({ name: "pageview", ...sent })
}
