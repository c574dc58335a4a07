import type { Fault } from "../../domain/error.ts"
import { REFUSED_NAMES } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import type { RequestFacts } from "../draft.ts"
import { CLICK_IDS } from "../enrich/acquisition.ts"
import { cutBytes, exceedsCharacters } from "../request/text.ts"
import { splitAddress, type WebAddress } from "../request/web-address.ts"
import { type Field, readAddress, readLooseText, readName, readText, refuse } from "./fields.ts"
import { type ForeignPayload, type ForeignReading, NOTHING_SENT, refererPage } from "./incoming.ts"

/** The count request of GoatCounter, which carries everything in its query string (metrics.md 18.4). */
export const goatcounterCount: ForeignPayload = {
  product: "goatcounter",
  read: ({ url }, facts) => [readCount(queryOf(url), facts)],
  impliedSite: ({ url }) => splitAddress(url).host.split(".")[0] ?? "",
}

const MAX_PATH = 2_048
/** The first number of `s` is the width. An unreadable size counts as unknown. */
const WIDTH = /^(\d{1,6})(?:\.\d*)?(?:,|$)/
const TRUE = ["true", "1"]
const FALSE = ["false", "0", ""]
/** Lowest value of `b` with which GoatCounter's script reports an automated browser. */
const FIRST_BOT = 150
/** Parameters that are read from `q`, with their names in Footfall. */
const CAMPAIGN: ReadonlyMap<string, string> = new Map([
  ...["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "ref", "source", ...CLICK_IDS].map(
    (name) => [name, name] as const,
  ),
  ["campaign", "utm_campaign"],
  ["src", "source"],
])

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?")
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1))
}

function readCount(query: URLSearchParams, facts: RequestFacts): ForeignReading {
  const faults: Fault[] = []
  const of = (name: string): Field => ({ name, value: query.get(name) ?? undefined, faults })
  const site = readText(of("site"))
  const named = site === "" ? [] : [site]
  const isEvent = readFlag(of("e"))
  const isBot = readBot(of("b"))
  const path = readPath(of("p"))
  const incoming = {
    ...NOTHING_SENT,
    named,
    name: isEvent ? readName(path, REFUSED_NAMES) : "pageview",
    address: withCampaign(isEvent && !isPage(path.value) ? refererPage(facts) : pageOf(path), readText(of("q"))),
    title: readLooseText(of("t")),
    referrer: cutBytes(readLooseText(of("r")), COLLECT.referrerBytes),
    width: readWidth(of("s")),
    ...(isBot && { isBot }),
  }
  return faults.length > 0 ? { faults, named } : { incoming }
}

function readPath(target: Field): Field {
  const text = readText(target)
  if (target.value === undefined || target.value === "") refuse(target, "required", "is required")
  else if (exceedsCharacters(text, MAX_PATH)) refuse(target, "too_long", `must have at most ${MAX_PATH} characters`)
  return target.faults.length > 0 ? { ...target, value: "/" } : target
}

/** Returns whether the path of an event is that of a page, as for a click that is named after the page it was on. */
const isPage = (path: unknown): boolean => /^(\/|https?:)/i.test(String(path))

/** Returns the page of a hit from a server as a URL with the query string, from which campaigns are read. Other events have none. */
export function goatcounterPage(path: string, isEvent: boolean, query: string): string {
  const page = isPage(path) ? path : isEvent ? "/" : `/${path}`
  const tags = query.replace(/^\?/, "")
  return tags === "" ? page : `${page}${page.includes("?") ? "&" : "?"}${tags}`
}

/** Returns the page of a path that the script or the site owner wrote. It may lack the leading slash or be a full URL. */
function pageOf(target: Field): WebAddress {
  const text = String(target.value)
  if (/^https?:/i.test(text)) return readAddress(target)
  // After a host, text is always read as a path, even when it starts with two slashes.
  return { ...splitAddress(`http://host${text.startsWith("/") ? "" : "/"}${text}`), scheme: "", host: "" }
}

function withCampaign(address: WebAddress, sent: string): WebAddress {
  const tags = new URLSearchParams()
  for (const [name, value] of new URLSearchParams(sent)) {
    const tag = CAMPAIGN.get(name)
    if (tag !== undefined && !tags.has(tag)) tags.set(tag, value)
  }
  const query = [address.query, tags.toString()].filter((part) => part !== "").join("&")
  return { ...address, query }
}

function readFlag(target: Field): boolean {
  const text = readText(target).toLowerCase()
  if (TRUE.includes(text)) return true
  return FALSE.includes(text) ? false : (refuse(target, "invalid_type", "must be true or false") ?? false)
}

function readBot(target: Field): true | undefined {
  const text = readText(target)
  const code = text === "" ? 0 : Number(text)
  if (Number.isInteger(code) && code >= FIRST_BOT) return true
  return code === 0 ? undefined : refuse(target, "out_of_range", `must be 0 or at least ${FIRST_BOT}`)
}

function readWidth(target: Field): number | undefined {
  const width = WIDTH.exec(readText(target))?.[1]
  return width === undefined ? undefined : Number(width)
}
