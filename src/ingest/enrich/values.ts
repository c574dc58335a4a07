import { COLLECT } from "../../domain/limits.ts"
import { agentOf, NO_AGENT } from "../agent.ts"
import { campaignOf } from "../campaign.ts"
import { channelOf } from "../channel.ts"
import { addCounter, type Draft } from "../draft.ts"
import { firstLanguage, languageOf } from "../language.ts"
import { pageOf } from "../page.ts"
import { isOwn, NO_REFERRER, type Referrer, referrerOf } from "../referrer.ts"
import { moneyOf } from "../revenue.ts"
import { sizeClass } from "../size-class.ts"
import { sourceOf } from "../source.ts"
import { tagValue } from "../text.ts"

/** The values an event is stored with, each set by its own step. */

export function setAgent(draft: Draft): void {
  const { userAgent } = draft.request
  draft.agent = draft.sender === "server" && userAgent === "" ? NO_AGENT : agentOf(userAgent)
}

export function setReferrer(draft: Draft): void {
  const { incoming, site, hostname } = draft
  const referrer = referrerOf(incoming.referrer)
  if (referrer.host !== "" && !isOwn(referrer, { hostname, hosts: site.hosts })) draft.referrer = referrer
}

export function setPage(draft: Draft): void {
  const { settings } = draft.site
  const hash = draft.incoming.hash || settings.hash_routing
  draft.page = pageOf(draft.incoming.address, { allowed: settings.allowed_query_params, hash })
}

/** Source, campaign and channel: what the first event of a visit says about how it came about. */
export function setAcquisition(draft: Draft): void {
  const { query } = draft.incoming.address
  const saysNothing = query === "" && draft.referrer.host === ""
  draft.acquisition = saysNothing ? UNTOLD : acquisitionOf(query, draft.referrer)
}

function acquisitionOf(query: string, referrer: Referrer): Draft["acquisition"] {
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

/** Of most events: another page of the same site led to theirs. */
const UNTOLD = acquisitionOf("", NO_REFERRER)

export function setTitle(draft: Draft): void {
  draft.title = tagValue(draft.incoming.title, COLLECT.titleChars)
}

/** Properties of the events whose names have a fixed meaning are the server's to set. */
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

/** A browser's revenue that cannot be read is left out and counted; the event stays. */
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
