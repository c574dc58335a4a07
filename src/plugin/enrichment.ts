import type { NewEvent, Vitals } from "../domain/event.ts"
import { COLLECT } from "../domain/limits.ts"
import { coversHost } from "../domain/site.ts"
import type { VisitTraits } from "../domain/visit.ts"
import { readAddress } from "../ingest/address/client-address.ts"
import { type Campaign, campaignOf, channelOf, sourceOf } from "../ingest/enrich/acquisition.ts"
import { pageOf } from "../ingest/enrich/page.ts"
import { isSelfReferral, NO_REFERRER, referrerOf } from "../ingest/enrich/referrer.ts"
import { moneyOf } from "../ingest/enrich/values.ts"
import { memoize } from "../ingest/memoize.ts"
import { NOWHERE, openPlaceFile, type Place, type PlaceFile } from "../ingest/place/place.ts"
import { agentOf, NO_AGENT } from "../ingest/request/agent.ts"
import { cutBytes, cutCharacters, tagValue, visible } from "../ingest/request/text.ts"
import { hostnameOf, splitAddress } from "../ingest/request/web-address.ts"

export { languageOf, sizeClass } from "../ingest/enrich/values.ts"

/** Facts of a site by which events from elsewhere are stored in the same way as its own. */
export interface EnrichmentSite {
  hosts: readonly string[]
  allowed_query_params: readonly string[]
  hash_routing: boolean
  revenue_currency: string
}

/** An event from elsewhere. Texts are as sent; what is missing is derived from the rest. */
export interface ForeignEvent {
  at: number
  name: string
  url?: string
  hostname?: string
  /** Path with query string. */
  path?: string
  title?: string
  referrer?: string
  utm?: Partial<Record<"utm_source" | "utm_medium" | "utm_campaign" | "utm_term" | "utm_content", string>>
  userAgent?: string
  /** Address, from which the place is derived. */
  address?: string
  /** Traits that are stated. They win over derived ones. */
  traits?: Partial<VisitTraits>
  interactive?: boolean
  props?: readonly (readonly [key: string, value: string])[]
  revenue?: { amount: string; currency: string }
  engagement?: { engagedMs: number; scrollDepth?: number }
  /** Page as it is stored, which is not derived from the URL again. */
  page?: string
  vitals?: Vitals
}

/** An event as it is stored, with the traits of a visit that begins with it. */
export interface EnrichedEvent {
  event: NewEvent
  traits: VisitTraits
  isBot: boolean
  /** Whether an amount or currency could not be read and was left out. */
  hasInvalidRevenue: boolean
}

/** Opens the IP geolocation file at a path. */
export async function openPlaces(path: string | undefined): Promise<PlaceFile | undefined> {
  if (path === undefined) return undefined
  const file = openPlaceFile(path)
  const fault = await file.refresh()
  return fault === undefined ? file : undefined
}

/**
 * Creates the function that enriches events by the rules of ingestion: page, source and channel, device, place, revenue. It returns
 * "bad_url" for an event whose host is not a host name.
 */
export function createEnrichment(site: EnrichmentSite, places?: PlaceFile): (event: ForeignEvent) => EnrichedEvent | "bad_url" {
  const known = new KnownTraits()
  const pageRules = { allowed: site.allowed_query_params, hash: site.hash_routing }
  const addressOf = memoize(MAX_KNOWN, (text) => {
    const address = splitAddress(text)
    return { host: address.host, query: address.query, page: pageOf(address, pageRules) }
  })
  const hostOf = memoize(MAX_KNOWN, (sent) => (sent === "" ? "" : hostnameOf(sent)))
  const titleOf = memoize(MAX_KNOWN, (title) => tagValue(title, COLLECT.titleChars))
  return (given) => {
    const address = addressOf(given.url ?? given.path ?? "/")
    const hostname = hostOf(given.hostname || address.host)
    if (hostname === undefined) return "bad_url"
    const agent = given.userAgent ? agentOf(given.userAgent) : NO_AGENT
    const money = given.revenue && moneyOf(given.revenue, site.revenue_currency)
    const { engagement } = given
    const client = places && given.address !== undefined ? readAddress(given.address) : undefined
    const place = (client && places?.find(client)) ?? NOWHERE
    const event: NewEvent = {
      at: given.at,
      name: given.name === "" ? "pageview" : cutName(given.name),
      page: given.page ?? address.page,
      hostname,
      title: titleOf(given.title ?? ""),
      interactive: given.interactive ?? true,
      props: storedProps(given.props),
      ...(money && typeof money !== "string" && { revenue: money }),
      ...(engagement && { engagement }),
      ...(given.vitals && { vitals: given.vitals }),
    }
    return {
      event,
      traits: known.of(given, { hostname, query: address.query, place }, () =>
        traitsOf(given, { hostname, query: address.query, hosts: site.hosts }, { ...agent, ...place, ...given.traits }),
      ),
      isBot: agent.isBot,
      hasInvalidRevenue: typeof money === "string",
    }
  }
}

/** Maximum number of remembered values of each kind: most events have those of earlier ones. */
const MAX_KNOWN = 5_000
const NO_TRAITS: Partial<VisitTraits> = {}

/** What the traits of an event are derived from, in addition to the event. */
interface Found {
  hostname: string
  query: string
  place: Place
}

/** Remembers the traits of earlier events. It does not hold their addresses. */
class KnownTraits {
  readonly #known = new Map<string, VisitTraits>()
  /** Stated traits as text. Sources hand over the same object for the same traits. */
  readonly #texts = new WeakMap<Partial<VisitTraits>, string>()
  #last: (Found & Pick<Required<ForeignEvent>, "referrer" | "userAgent" | "traits"> & { tags: string; found: VisitTraits }) | undefined

  of(given: ForeignEvent, { hostname, query, place }: Found, compute: () => VisitTraits): VisitTraits {
    const { traits = NO_TRAITS, referrer = "", userAgent = "", utm } = given
    const tags = utm && hasTags(utm) ? JSON.stringify(utm) : ""
    const last = this.#last
    // Events of a visit follow one another.
    if (last && last.traits === traits && last.hostname === hostname && last.query === query && last.place === place)
      if (last.referrer === referrer && last.userAgent === userAgent && last.tags === tags) return last.found
    const { country, region, city } = place
    const key = [hostname, query, country, region, city, referrer, userAgent, tags, this.#textOf(traits)].join("\n")
    const known = this.#known.get(key)
    const found = known ?? compute()
    if (!known) {
      if (this.#known.size === MAX_KNOWN) this.#known.clear()
      this.#known.set(key, found)
    }
    this.#last = { hostname, query, place, referrer, userAgent, traits, tags, found }
    return found
  }

  #textOf(traits: Partial<VisitTraits>): string {
    let text = this.#texts.get(traits)
    if (text === undefined) {
      text = JSON.stringify(traits)
      this.#texts.set(traits, text)
    }
    return text
  }
}

const cutName = (name: string): string => cutCharacters(visible(name).trim(), COLLECT.nameChars)

const NO_PROPS: NewEvent["props"] = []

// Most events of an import have no properties and no tags, so neither is copied for them.
const storedProps = (props: ForeignEvent["props"]): NewEvent["props"] => (!props || props.length === 0 ? NO_PROPS : storable(props))

const storable = (props: NonNullable<ForeignEvent["props"]>): NewEvent["props"] =>
  props
    .slice(0, COLLECT.props)
    .map(([key, value]) => [cutBytes(visible(key), COLLECT.propKeyBytes), cutBytes(visible(value), COLLECT.propValueBytes)] as const)
    .filter(([key]) => key !== "")

type Tags = NonNullable<ForeignEvent["utm"]>

function hasTags(utm: Tags): boolean {
  for (const name in utm) if (utm[name as keyof Tags]) return true
  return false
}

function tagsOf(utm: Tags): Tags {
  const given = Object.entries(utm).filter(([, value]) => value !== undefined && value !== "")
  return Object.fromEntries(given.map(([name, value]) => [name, tagValue(value, COLLECT.utmChars)]))
}

interface Page {
  hostname: string
  query: string
  hosts: readonly string[]
}

/** Returns the traits. Source and channel follow from campaign and referrer, unless they are stated. */
function traitsOf(
  { referrer: sent = "", utm = {} }: ForeignEvent,
  { hostname, query, hosts }: Page,
  stated: Partial<VisitTraits>,
): VisitTraits {
  const found = referrerOf(sent)
  const isOwn = found.host !== "" && (isSelfReferral(found, { hostname, hosts }) || coversHost(hosts, found.host))
  const referrer = isOwn ? NO_REFERRER : found
  const campaign: Campaign = hasTags(utm) ? { ...campaignOf(query), ...tagsOf(utm) } : campaignOf(query)
  // A stated source without a channel is spelled, and has the channel, as if the parameter `source` named it.
  const isNamed = stated.channel === undefined && stated.source !== undefined && stated.source !== ""
  const source = sourceOf(isNamed ? { ...campaign, utm_source: "", source: stated.source! } : campaign, referrer)
  const channel = channelOf(source, campaign)
  const text = (name: keyof VisitTraits): string => stated[name] ?? ""
  return {
    source: isNamed ? source.name : (stated.source ?? source.name),
    referrer: stated.referrer ?? referrer.text,
    channel: stated.channel ?? channel,
    utm_source: stated.utm_source ?? campaign.utm_source,
    utm_medium: stated.utm_medium ?? campaign.utm_medium,
    utm_campaign: stated.utm_campaign ?? campaign.utm_campaign,
    utm_term: stated.utm_term ?? campaign.utm_term,
    utm_content: stated.utm_content ?? campaign.utm_content,
    click_id_type: stated.click_id_type ?? campaign.click_id_type,
    country: text("country"),
    region: text("region"),
    city: text("city"),
    device: text("device"),
    size: text("size"),
    browser: text("browser"),
    browser_version: text("browser_version"),
    os: text("os"),
    os_version: text("os_version"),
    language: text("language"),
  }
}
