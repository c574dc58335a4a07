import type { Shield, Site } from "../domain/site.ts"
import { withoutWww } from "../domain/site.ts"
import { wildcardMatcher } from "../domain/wildcard.ts"
import { type AddressRanges, addressRanges } from "./client-address.ts"

/** A site's own rules, ready to be asked. Each answers with the value of the shield that stops the event. */
interface Shields {
  ip: AddressRanges
  hostname(hostname: string): string | undefined
  referrer(host: string): string | undefined
  page(page: string): string | undefined
  country(code: string): string | undefined
}

const compiled = new WeakMap<Site, Shields>()

/** Made once per version of a site: the directory hands out a new object after every change. */
export function shieldsOf(site: Site): Shields {
  const known = compiled.get(site)
  if (known) return known
  const made = compile(site.settings.shields.filter(({ enabled }) => enabled))
  compiled.set(site, made)
  return made
}

function compile(shields: readonly Shield[]): Shields {
  const values = (kind: Shield["kind"]) => shields.filter((shield) => shield.kind === kind).map(({ value }) => value)
  const hosts = (kind: Shield["kind"]) => finder(values(kind), hostMatcher)
  const countries = new Map(values("country").map((value) => [value.toUpperCase(), value]))
  return {
    ip: addressRanges(values("ip")),
    hostname: hosts("hostname"),
    referrer: hosts("referrer"),
    page: finder(values("page"), wildcardMatcher),
    country: (code) => countries.get(code),
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
