import { currencyDecimals, parseCurrency } from "../../domain/currency.ts"
import type { NewEvent } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { parseAmount } from "../../domain/money.ts"
import { type Acquisition, addCounter, type Draft } from "../draft.ts"
import { memoize } from "../memoize.ts"
import { agentOf, NO_AGENT } from "../request/agent.ts"
import { tagValue } from "../request/text.ts"
import { campaignOf, channelOf, sourceOf } from "./acquisition.ts"
import { pageOf } from "./page.ts"
import { isSelfReferral, NO_REFERRER, type Referrer, referrerOf } from "./referrer.ts"

/** The steps that set the values an event is stored with. */

export function setAgent(draft: Draft): void {
  const { userAgent } = draft.request
  draft.agent = draft.sender === "server" && userAgent === "" ? NO_AGENT : agentOf(userAgent)
}

export function setReferrer(draft: Draft): void {
  const { incoming, site, hostname } = draft
  draft.referrer = foreignReferrer(incoming.referrer, { hostname, hosts: site.hosts })
}

/** Returns the referrer of a page, or none when it is the site itself. */
export function foreignReferrer(sent: string, page: { hostname: string; hosts: readonly string[] }): Referrer {
  const referrer = referrerOf(sent)
  return referrer.host === "" || isSelfReferral(referrer, page) ? NO_REFERRER : referrer
}

export function setPage(draft: Draft): void {
  const { settings } = draft.site
  const hash = draft.incoming.hash || settings.hash_routing
  draft.page = pageOf(draft.incoming.address, { allowed: settings.allowed_query_params, hash })
}

/** Sets source, campaign and channel. The values of the first event of a visit become those of the visit. */
export function setAcquisition(draft: Draft): void {
  draft.acquisition = acquisitionOf(draft.incoming.address.query, draft.referrer)
}

/** Returns the acquisition by the query of a page and its referrer. Without a query, equal referrers have the same object. */
export function acquisitionOf(query: string, referrer: Referrer): Acquisition {
  if (query !== "") return acquisitionFrom(query, referrer)
  if (referrer.host === "") return DIRECT
  let known = referrals.get(referrer)
  if (!known) {
    known = acquisitionFrom("", referrer)
    referrals.set(referrer, known)
  }
  return known
}

/** Acquisitions by referrer, of which the latest ones are memoized. */
const referrals = new WeakMap<Referrer, Acquisition>()

function acquisitionFrom(query: string, referrer: Referrer): Acquisition {
  const campaign = campaignOf(query)
  const source = sourceOf(campaign, referrer)
  return {
    source: source.name,
    channel: channelOf(source, campaign),
    utm_source: campaign.utm_source,
    utm_medium: campaign.utm_medium,
    utm_campaign: campaign.utm_campaign,
    utm_term: campaign.utm_term,
    utm_content: campaign.utm_content,
    click_id_type: campaign.click_id_type,
  }
}

/** Acquisition without query and referrer. Most events have it, because another page of the site led to theirs. */
const DIRECT = acquisitionFrom("", NO_REFERRER)

export function setTitle(draft: Draft): void {
  draft.title = tagValue(draft.incoming.title, COLLECT.titleChars)
}

/** Sets the properties. For event names with a fixed meaning the server adds or changes some of them. */
export function setProps(draft: Draft): void {
  const { name, props, propsDiscarded } = draft.incoming
  if (propsDiscarded) addCounter(draft, "props_discarded")
  draft.props = propsOf(name, props, draft.page)
}

type Props = Draft["props"]

function propsOf(name: string, props: Props, page: string): Props {
  if (name === "404") return withProp(props, "path", page)
  if (name === "Form: Submission" && !props.some(([key]) => key === "path")) return withProp(props, "path", page)
  if (name === "File Download") return props.map(([key, value]) => [key, key === "url" ? withoutQuery(value) : value])
  return props
}

const withProp = (props: Props, name: string, value: string): Props => [
  ...props.filter(([key]) => key !== name).slice(0, COLLECT.props - 1),
  [name, value],
]

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "")

/** Sets the revenue. Unreadable revenue from a browser is left out and counted, and the event is kept. */
export function setRevenue(draft: Draft): void {
  const { revenue } = draft.incoming
  if (!revenue) return
  const money = moneyOf(revenue, draft.site.revenue_currency)
  if (typeof money === "string") addCounter(draft, "revenue_invalid")
  else draft.revenue = money
}

export function setLanguage(draft: Draft): void {
  draft.language = languageOf(draft.incoming.language) || firstLanguage(draft.request.acceptLanguage)
}

export function setSize(draft: Draft): void {
  draft.size = sizeClass(draft.incoming.width)
}

type Money = NonNullable<NewEvent["revenue"]>
export type RevenueFault = "invalid_currency" | "invalid_amount" | "too_many_decimals"

/** Converts an amount in major units to whole minor units of its currency. */
export function moneyOf(sent: { amount: unknown; currency: unknown }, siteCurrency: string): Money | RevenueFault {
  const currency = sent.currency === undefined || sent.currency === null ? siteCurrency : codeOf(sent.currency)
  const decimals = currency === undefined ? undefined : currencyDecimals(currency)
  if (currency === undefined || decimals === undefined) return "invalid_currency"
  const amount = parseAmount(sent.amount, decimals)
  if (typeof amount === "number") return { amount, currency }
  return amount === "amount_out_of_range" ? "invalid_amount" : amount
}

const codeOf = (value: unknown): string | undefined => (typeof value === "string" ? parseCurrency(value.trim()) : undefined)

const TAG = /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8})*$/i

/** Returns a language tag in its canonical spelling (`de-DE`, `zh-Hans-CN`), or "" for anything else. */
export const languageOf = memoize(1_000, (sent: string): string => {
  const tag = sent.trim()
  if (tag.length > COLLECT.languageChars || !TAG.test(tag)) return ""
  const [language = "", ...rest] = tag.toLowerCase().split(/[-_]/)
  return [language, ...rest.map(subtag)].join("-")
})

/** Returns the first language of an `Accept-Language` header. */
export const firstLanguage = memoize(1_000, (header: string): string => {
  const end = header.search(/[,;]/)
  return languageOf(end < 0 ? header : header.slice(0, end))
})

function subtag(part: string): string {
  if (part.length === 2) return part.toUpperCase()
  return part.length === 4 ? part[0]!.toUpperCase() + part.slice(1) : part
}

const CLASSES: readonly (readonly [below: number, name: string])[] = [
  [576, "<576"],
  [768, "576-767"],
  [992, "768-991"],
  [1440, "992-1439"],
]

/** Returns the class of a viewport width in pixels, or "" when it is unknown. The width itself is not stored. */
export function sizeClass(width: number | undefined): string {
  if (width === undefined || !(width > 0)) return ""
  return CLASSES.find(([below]) => width < below)?.[1] ?? "1440+"
}
