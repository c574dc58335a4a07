import { conditionOf, textTest, wildcardMatcher } from "../../domain/filter.ts"
import type { RuleCondition, RuleDimension, Shield } from "../../domain/shield.ts"
import { type Site, withoutWww } from "../../domain/site.ts"
import { type AddressRanges, addressRanges } from "../address/client-address.ts"
import type { Draft } from "../draft.ts"

/** The compiled shields of a site and of the instance. Each member returns the value of the shield that drops the event, if any does. */
export interface Shields {
  ip: AddressRanges
  hostname(hostname: string): string | undefined
  referrer(host: string): string | undefined
  page(page: string): string | undefined
  country(code: string): string | undefined
  /** Undefined without rules, so that they cost nothing on most sites. */
  rule: ((draft: Draft) => string | undefined) | undefined
}

/**
 * Creates the function that returns the shields of a site: its own, followed by those of the instance. They are compiled once per
 * `Site` object, because the directory returns a new object after every change, and again when the list of the instance changes.
 */
export function createShields(instanceShields: () => readonly Shield[]): (site: Site) => Shields {
  let previous: readonly Shield[] | undefined
  let compiled = new WeakMap<Site, Shields>()
  return (site) => {
    const current = instanceShields()
    if (current !== previous) {
      previous = current
      compiled = new WeakMap()
    }
    const known = compiled.get(site)
    if (known) return known
    const shields = compile([...site.settings.shields, ...current].filter(({ enabled }) => enabled))
    compiled.set(site, shields)
    return shields
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

/** Matches the whole host when the value contains `*`, otherwise the host or one of its parents. */
function hostMatcher(value: string): (host: string) => boolean {
  const plain = withoutWww(value.trim().toLowerCase())
  return plain.includes("*") ? wildcardMatcher(plain) : (host) => host === plain || host.endsWith(`.${plain}`)
}

function ruleFinder(shields: readonly Shield[]): Shields["rule"] {
  if (shields.length === 0) return undefined
  const rules = shields.map(({ value, conditions = [] }) => ({ value, tests: conditions.map(conditionTest) }))
  return (draft) => rules.find(({ tests }) => tests.every((holds) => holds(draft)))?.value
}

/** Tests a condition as reports do. A missing value passes when the condition names it or has a negative operator. */
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

/** The values that the event will be stored with. */
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
