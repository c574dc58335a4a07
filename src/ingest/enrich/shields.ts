import { conditionOf, textTest, wildcardMatcher } from "../../domain/filter.ts"
import type { RuleCondition, RuleDimension, Shield } from "../../domain/shield.ts"
import { type Site, withoutWww } from "../../domain/site.ts"
import { type AddressRanges, addressRanges } from "../address/client-address.ts"
import type { Draft } from "../draft.ts"

/** The rules of a site and of the instance, ready to be asked. Each answers with the value of the shield that stops the event. */
export interface Shields {
  ip: AddressRanges
  hostname(hostname: string): string | undefined
  referrer(host: string): string | undefined
  page(page: string): string | undefined
  country(code: string): string | undefined
  /** Undefined where there is no rule, so that nobody pays for what nobody has. */
  rule: ((draft: Draft) => string | undefined) | undefined
}

/**
 * Gives the shields of a site: its own, then those of the instance. Made once per version of a site, as the directory hands
 * out a new object after every change, and again when the instance has another list.
 */
export function createShields(instanceSetting: () => readonly Shield[]): (site: Site) => Shields {
  let shared: readonly Shield[] | undefined
  let compiled = new WeakMap<Site, Shields>()
  return (site) => {
    const current = instanceSetting()
    if (current !== shared) {
      shared = current
      compiled = new WeakMap()
    }
    const known = compiled.get(site)
    if (known) return known
    const made = compile([...site.settings.shields, ...current].filter(({ enabled }) => enabled))
    compiled.set(site, made)
    return made
  }
}

function compile(shields: readonly Shield[]): Shields {
  const of = (kind: Shield["kind"]) => shields.filter((shield) => shield.kind === kind)
  const values = (kind: Shield["kind"]) => of(kind).map(({ value }) => value)
  const hosts = (kind: Shield["kind"]) => finder(values(kind), hostMatcher)
  const countries = new Map(values("country").map((value) => [value.toUpperCase(), value]))
  return {
    ip: addressRanges(values("ip")),
    hostname: hosts("hostname"),
    referrer: hosts("referrer"),
    page: finder(values("page"), wildcardMatcher),
    country: (code) => countries.get(code),
    rule: ruleFinder(of("rule")),
  }
}

function finder(values: readonly string[], matcher: (value: string) => (text: string) => boolean) {
  const rules = values.map((value) => ({ value, matches: matcher(value) }))
  return (text: string): string | undefined => rules.find(({ matches }) => matches(text))?.value
}

/** With `*` the whole host matches, without it the host or one of its parents. */
function hostMatcher(value: string): (host: string) => boolean {
  const plain = withoutWww(value.trim().toLowerCase())
  return plain.includes("*") ? wildcardMatcher(plain) : (host) => host === plain || host.endsWith(`.${plain}`)
}

function ruleFinder(shields: readonly Shield[]): Shields["rule"] {
  if (shields.length === 0) return undefined
  const rules = shields.map(({ value, conditions = [] }) => ({ value, tests: conditions.map(conditionTest) }))
  return (draft) => rules.find(({ tests }) => tests.every((holds) => holds(draft)))?.value
}

/** As in a report, over the values an event is stored with: a missing one passes when it is named, or by a negative operator. */
function conditionTest(flat: RuleCondition): (draft: Draft) => boolean {
  const { negative, condition } = conditionOf(flat)
  const { dimension, property = "" } = flat
  const passes = textTest(condition)
  return (draft) => {
    const value = dimension === "property" ? propertyOf(draft, property) : VALUES[dimension](draft)
    return (value === "" ? condition.missing : passes(value)) !== negative
  }
}

const propertyOf = ({ props }: Draft, key: string): string => props.find(([name]) => name === key)?.[1] ?? ""

/** What an event will be stored with. */
const VALUES: Readonly<Record<Exclude<RuleDimension, "property">, (draft: Draft) => string>> = {
  page: ({ page }) => page,
  title: ({ title }) => title,
  hostname: ({ hostname }) => hostname,
  event: ({ incoming }) => incoming.name,
  source: ({ acquisition }) => acquisition.source,
  referrer: ({ referrer }) => referrer.text,
  channel: ({ acquisition }) => acquisition.channel,
  utm_source: ({ acquisition }) => acquisition.utm_source,
  utm_medium: ({ acquisition }) => acquisition.utm_medium,
  utm_campaign: ({ acquisition }) => acquisition.utm_campaign,
  utm_term: ({ acquisition }) => acquisition.utm_term,
  utm_content: ({ acquisition }) => acquisition.utm_content,
  click_id_type: ({ acquisition }) => acquisition.click_id_type,
  country: ({ place }) => place.country,
  region: ({ place }) => place.region,
  city: ({ place }) => place.city,
  device: ({ agent }) => agent.device,
  size: ({ size }) => size,
  browser: ({ agent }) => agent.browser,
  browser_version: ({ agent }) => agent.browser_version,
  os: ({ agent }) => agent.os,
  os_version: ({ agent }) => agent.os_version,
  language: ({ language }) => language,
}
