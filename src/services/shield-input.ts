import { type Static, Type as t } from "@sinclair/typebox"
import type { Fault } from "../domain/error.ts"
import { parseHost } from "../domain/host.ts"
import { COLLECT, QUERY, THINGS } from "../domain/limits.ts"
import { matcherFaults, type PageRules } from "../domain/match.ts"
import { fault } from "../domain/shape.ts"
import { SHIELD_KINDS, type Shield, type ShieldKind } from "../domain/site.ts"
import { isRange } from "../ingest/client-address.ts"

/** A shield as a caller sends it. An id is taken along from what was read, and decides nothing. */
export const ShieldInput = t.Object(
  {
    id: t.Optional(t.Integer()),
    kind: t.Union(SHIELD_KINDS.map((kind) => t.Literal(kind))),
    value: t.String({ minLength: 1, maxLength: COLLECT.pageBytes }),
    enabled: t.Optional(t.Boolean()),
  },
  { additionalProperties: false },
)
export type ShieldInput = Static<typeof ShieldInput>

/** The whole list of a site's shields. One of the same kind and value as before keeps its id. */
export function readShields(
  present: readonly Shield[],
  sent: readonly ShieldInput[],
  rules: PageRules,
): { shields: Shield[]; faults: Fault[] } {
  const faults: Fault[] = []
  const shields: Shield[] = []
  let lastId = Math.max(0, ...present.map(({ id }) => id))
  for (const [i, { kind, value: text, enabled = true }] of sent.entries()) {
    const value = shieldValue(kind, text, rules)
    const isSame = (other: Shield) => other.kind === kind && other.value === value
    if (value === undefined) faults.push(...valueFaults(kind, text, rules, `/shields/${i}/value`))
    else if (shields.some(isSame)) faults.push(fault(`/shields/${i}`, "not_unique", "is in the list already"))
    else shields.push({ id: present.find(isSame)?.id ?? ++lastId, kind, value, enabled })
  }
  const isTooMany = SHIELD_KINDS.some((kind) => sent.filter((shield) => shield.kind === kind).length > THINGS.shieldsOfKind)
  if (isTooMany) faults.push(fault("/shields", "too_many", `may have ${THINGS.shieldsOfKind} of each kind`))
  return { shields, faults }
}

/** The value as ingestion compares it; undefined for what could never match. */
function shieldValue(kind: ShieldKind, text: string, rules: PageRules): string | undefined {
  if (kind === "ip") return isRange(text) ? text : undefined
  if (kind === "country") return /^[a-z]{2}$/i.test(text) ? text.toUpperCase() : undefined
  if (kind === "page") return valueFaults(kind, text, rules, "").length === 0 ? text : undefined
  return text.includes("*") ? hostPattern(text.toLowerCase()) : parseHost(text)
}

function hostPattern(text: string): string | undefined {
  const stars = text.split("*").length - 1
  return /^[a-z0-9.*-]+$/.test(text) && stars <= QUERY.wildcardStars && text.length <= QUERY.wildcardChars ? text : undefined
}

function valueFaults(kind: ShieldKind, value: string, rules: PageRules, pointer: string): Fault[] {
  if (kind === "page") return matcherFaults({ of: "page", match: value.includes("*") ? "wildcard" : "exact", value }, rules, pointer)
  if (kind === "ip") return [fault(pointer, "invalid_choice", "must be an address or a range such as 203.0.113.0/24")]
  if (kind === "country") return [fault(pointer, "invalid_choice", "must be a country code of two letters")]
  return [fault(pointer, "invalid_host", "must be a host name; * stands for any run of characters")]
}
