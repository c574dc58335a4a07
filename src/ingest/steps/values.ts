import type { Counter } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { agentOf, NO_AGENT } from "../agent.ts"
import { campaignOf } from "../campaign.ts"
import { channelOf } from "../channel.ts"
import type { Draft } from "../draft.ts"
import { firstLanguage, languageOf } from "../language.ts"
import { pageOf } from "../page.ts"
import { isOwn, referrerOf } from "../referrer.ts"
import { moneyOf } from "../revenue.ts"
import { sizeClass } from "../size-class.ts"
import { sourceOf } from "../source.ts"
import { tagValue } from "../text.ts"

/** The values an event is stored with, each set by its own step. */

const NO_REFERRER = { host: "", text: "" }

export function setAgent(draft: Draft): Draft {
  const { userAgent } = draft.request
  return { ...draft, agent: draft.sender === "server" && userAgent === "" ? NO_AGENT : agentOf(userAgent) }
}

export function setReferrer(draft: Draft): Draft {
  const { incoming, site, hostname } = draft
  if (incoming.referrer === "") return draft
  const referrer = referrerOf(incoming.referrer)
  return { ...draft, referrer: isOwn(referrer, { hostname, hosts: site.hosts }) ? NO_REFERRER : referrer }
}

export function setPage(draft: Draft): Draft {
  const { settings } = draft.site
  const hash = draft.incoming.hash || settings.hash_routing
  return { ...draft, page: pageOf(draft.incoming.address, { allowed: settings.allowed_query_params, hash }) }
}

/** Source, campaign and channel: what the first event of a visit says about how it came about. */
export function setAcquisition(draft: Draft): Draft {
  const campaign = campaignOf(draft.incoming.address.query)
  const source = sourceOf(campaign, draft.referrer)
  const { source: _, ref: __, ...tags } = campaign
  return { ...draft, acquisition: { ...tags, source: source.name, channel: channelOf(source, campaign) } }
}

export function setTitle(draft: Draft): Draft {
  const { title } = draft.incoming
  return title === "" ? draft : { ...draft, title: tagValue(title, COLLECT.titleChars) }
}

/** Properties of the events whose names have a fixed meaning are the server's to set. */
export function setProps(draft: Draft): Draft {
  const { name, props, propsDiscarded } = draft.incoming
  const counted = propsDiscarded ? withCounter(draft, "props_discarded") : draft
  if (name === "404") return { ...counted, props: withProp(props, "path", draft.page) }
  if (name === "Form: Submission" && !props.some(([key]) => key === "path"))
    return { ...counted, props: withProp(props, "path", draft.page) }
  if (name === "File Download")
    return { ...counted, props: props.map(([key, value]) => [key, key === "url" ? withoutQuery(value) : value]) }
  return { ...counted, props }
}

type Props = Draft["props"]

const withProp = (props: Props, name: string, value: string): Props => [
  ...props.filter(([key]) => key !== name).slice(0, COLLECT.props - 1),
  [name, value],
]

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "")

/** A browser's revenue that cannot be read is left out and counted; the event stays. */
export function setRevenue(draft: Draft): Draft {
  const { revenue } = draft.incoming
  if (!revenue) return draft
  const money = moneyOf(revenue, draft.site.revenue_currency)
  return typeof money === "string" ? withCounter(draft, "revenue_invalid") : { ...draft, revenue: money }
}

export function setLanguage(draft: Draft): Draft {
  return { ...draft, language: languageOf(draft.incoming.language) || firstLanguage(draft.request.acceptLanguage) }
}

export function setSize(draft: Draft): Draft {
  return { ...draft, size: sizeClass(draft.incoming.width) }
}

const withCounter = (draft: Draft, counter: Counter): Draft => ({ ...draft, counters: [...draft.counters, counter] })
