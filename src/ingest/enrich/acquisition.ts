import type { Channel } from "../../domain/dimension.ts"
import { COLLECT } from "../../domain/limits.ts"
import { SOURCES, type SourceCategory } from "../data/sources.ts"
import { tagValue } from "../request/text.ts"
import { type Referrer, valueForHost } from "./referrer.ts"

/** The campaign parameters of a page's query string. "" is missing. */
export interface Campaign {
  utm_source: string
  utm_medium: string
  utm_campaign: string
  utm_term: string
  utm_content: string
  click_id_type: string
  /** The parameters `source` and `ref`, which name the source when there is no `utm_source`. */
  source: string
  ref: string
}

export const CLICK_IDS = ["gclid", "gbraid", "wbraid", "msclkid", "fbclid", "ttclid", "twclid", "li_fat_id"]

const PARAMETERS: readonly Parameter[] = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "source", "ref"]
const CAMPAIGN_PARAMETERS: ReadonlySet<string> = new Set([...PARAMETERS, ...CLICK_IDS])
const ESCAPED = /[%+]/
/** Name of a parameter whose value is stored. Of click ids only the type is stored. */
type Parameter = Exclude<keyof Campaign, "click_id_type">

const NONE: Campaign = {
  utm_source: "",
  utm_medium: "",
  utm_campaign: "",
  utm_term: "",
  utm_content: "",
  click_id_type: "",
  source: "",
  ref: "",
}

/** Reads the campaign parameters of a query string. */
export function campaignOf(query: string): Campaign {
  const sent = campaignParameters(query)
  if (!sent) return NONE
  const campaign = { ...NONE }
  for (const name of PARAMETERS) {
    const value = sent.get(name)
    if (value !== undefined) campaign[name] = tagValue(value, COLLECT.utmChars)
  }
  campaign.click_id_type = CLICK_IDS.find((name) => sent.get(name)) ?? ""
  return campaign
}

/**
 * Returns the first value of each campaign parameter, or undefined when there is none. Parses like `URLSearchParams`, which takes ten
 * times as long because it creates a string for every parameter.
 */
function campaignParameters(query: string): Map<string, string> | undefined {
  let found: Map<string, string> | undefined
  for (let at = query.startsWith("?") ? 1 : 0; at < query.length; ) {
    const and = query.indexOf("&", at)
    const end = and < 0 ? query.length : and
    const equals = query.indexOf("=", at)
    const nameEnd = equals < 0 || equals > end ? end : equals
    const name = decoded(query.slice(at, nameEnd))
    if (CAMPAIGN_PARAMETERS.has(name)) {
      found ??= new Map()
      if (!found.has(name)) found.set(name, decoded(query.slice(nameEnd + 1, end)))
    }
    at = end + 1
  }
  return found
}

/** Decodes a name or value of a query string. Most contain no escapes. */
const decoded = (text: string): string => (ESCAPED.test(text) ? (new URLSearchParams(`_=${text}`).get("_") ?? "") : text)

/** The source of a visit. The category is undefined for a name that is not in the table. */
export interface Source {
  name: string
  category: SourceCategory | undefined
  /** Whether the source was named by the alias of an ad product, such as `adwords`. */
  paid: boolean
}

const DIRECT: Source = { name: "", category: undefined, paid: false }
const { byWord, byHost } = sourceTables()

/** Builds the tables in a function of its own, so that the engine compiles its loop without the rest of the module. */
function sourceTables() {
  const byWord = new Map<string, Source>()
  const byHost = new Map<string, Source>()
  for (const { name, category, aliases, paid, hosts } of SOURCES) {
    const source: Source = { name, category, paid: false }
    for (const word of [name.toLowerCase(), ...aliases]) byWord.set(word, source)
    for (const word of paid ?? []) byWord.set(word, { ...source, paid: true })
    for (const host of hosts) byHost.set(host, source)
  }
  return { byWord, byHost }
}

/**
 * Returns the source that `utm_source`, `source` or `ref` names, in this order, or else the referrer. A name in the table is spelled as
 * it is there.
 */
export function sourceOf(campaign: Campaign, referrer: Referrer): Source {
  const named = campaign.utm_source || campaign.source || campaign.ref
  if (named !== "") return knownSource(named.toLowerCase()) ?? { name: named, category: undefined, paid: false }
  if (referrer.host === "") return DIRECT
  return valueForHost(byHost, referrer.host) ?? { name: referrer.host, category: undefined, paid: false }
}

/** Finds a source of the table by an alias or by a host name. */
function knownSource(word: string): Source | undefined {
  const plain = word.startsWith("www.") ? word.slice(4) : word
  return byWord.get(word) ?? (plain.includes(".") ? valueForHost(byHost, plain) : undefined)
}

/** Words of the channel rules, in lower case (metrics.md section 8). */
export const DISPLAY_MEDIUMS: ReadonlySet<string> = new Set(["display", "banner", "expandable", "interstitial", "cpm"])
export const SOCIAL_MEDIUMS: ReadonlySet<string> = new Set([
  "social",
  "social-network",
  "social-media",
  "sm",
  "social network",
  "social media",
])
export const AFFILIATE_MEDIUMS: ReadonlySet<string> = new Set(["affiliate", "affiliates"])
export const EMAIL_WORDS: readonly string[] = ["email", "e-mail", "e_mail", "newsletter"]
export const GOOGLE_CLICK_IDS: ReadonlySet<string> = new Set(["gclid", "gbraid", "wbraid"])

/** The facts that the channel rules test. All text is in lower case. */
interface Facts {
  source: string
  category: Source["category"]
  paidAlias: boolean
  medium: string
  campaign: string
  clickId: string
  paidMedium: boolean
  shop: boolean
}

type Rule = readonly [channel: Channel, holds: (facts: Facts) => boolean]

/** The channel rules (metrics.md section 8). The first rule that holds decides. */
const RULES: readonly Rule[] = [
  ["Cross-network", ({ campaign }) => campaign.includes("cross-network")],
  ["Paid Shopping", ({ shop, paidMedium }) => shop && paidMedium],
  ["Paid Search", isPaidSearch],
  ["Paid Social", ({ category, paidMedium, paidAlias }) => category === "social" && (paidMedium || paidAlias)],
  ["Paid Video", ({ category, paidMedium }) => category === "video" && paidMedium],
  ["Display", ({ medium }) => DISPLAY_MEDIUMS.has(medium)],
  ["Paid Other", ({ paidMedium }) => paidMedium],
  ["Organic Shopping", ({ shop }) => shop],
  ["Organic Social", ({ category, medium }) => category === "social" || SOCIAL_MEDIUMS.has(medium)],
  ["Organic Video", ({ category, medium }) => category === "video" || medium.includes("video")],
  ["AI Assistants", ({ category }) => category === "ai"],
  ["Organic Search", ({ category, medium }) => category === "search" || medium === "organic"],
  [
    "Email",
    ({ category, source, medium }) => category === "email" || EMAIL_WORDS.some((word) => source.includes(word) || medium.includes(word)),
  ],
  ["Affiliates", ({ medium }) => AFFILIATE_MEDIUMS.has(medium)],
  ["Audio", ({ medium }) => medium === "audio"],
  ["SMS", ({ source, medium }) => source === "sms" || medium === "sms"],
  ["Mobile Push", isMobilePush],
  ["Referral", ({ source }) => source !== ""],
]

/** Returns the channel of a visit. */
export function channelOf(source: Source, campaign: Campaign): Channel {
  const medium = campaign.utm_medium.toLowerCase()
  const words = campaign.utm_campaign.toLowerCase()
  const facts: Facts = {
    source: source.name.toLowerCase(),
    category: source.category,
    paidAlias: source.paid,
    medium,
    campaign: words,
    clickId: campaign.click_id_type,
    paidMedium: medium.includes("cp") || medium === "ppc" || medium === "retargeting" || medium.startsWith("paid"),
    shop: source.category === "shopping" || words.includes("shopping") || SHOP.test(words),
  }
  for (const [channel, holds] of RULES) if (holds(facts)) return channel
  return "Direct"
}

// Matches `spring-shop` and `eshop-may`, but not `workshop`.
const SHOP = /(?:^|\P{L})e?shop/u

function isPaidSearch({ category, source, clickId, paidMedium, paidAlias }: Facts): boolean {
  if (category === "search" && (paidMedium || paidAlias)) return true
  return (source === "google" && GOOGLE_CLICK_IDS.has(clickId)) || (source === "bing" && clickId === "msclkid")
}

function isMobilePush({ source, medium }: Facts): boolean {
  return medium.endsWith("push") || medium.includes("mobile") || medium.includes("notification") || source === "firebase"
}
