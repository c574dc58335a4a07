/** The touches of transactions: the visits that led to them, of which some count and some are kept. */
import type { LinkClick, SaleVisit, Site, Touch } from "#plugin"
import { isBelow } from "../ignored-referrers.ts"
import type { Values } from "../orders/book.ts"
import { dimensionsText, type FrozenTouch, touchesOf, touchesText } from "../orders/frozen.ts"
import { type LostVisit, OPEN, type TransactionRow } from "../orders/transaction.ts"
import type { RevenueSettings } from "../settings.ts"

/** Number of touches other than direct ones that a transaction keeps: the first and the latest. */
const MAX_TOUCHES = 100
export const DAY_MS = 86_400_000

/** A touch as it was found, or as a transaction has it. */
type AnyTouch = Touch | FrozenTouch

/** What led to a sale: visit starts and clicks of one visitor, in order. */
export interface Path {
  touches: readonly Touch[]
  clicks: readonly LinkClick[]
}

export interface PathTerms {
  isTouch(touch: AnyTouch): boolean
  lookbackDays: number
}

/** Returns the columns of a visit and of the touches before a transaction. */
export function frozen(
  { at, event }: { at: number; event: string | undefined },
  visit: SaleVisit,
  path: Path | undefined,
  terms: PathTerms,
): Values {
  return {
    visitor: visit.visitor,
    visitor_kind: visit.visitor_kind,
    visit_started_at: visit.started_at,
    visit_sequence: visit.sequence,
    is_open: visit.is_closed ? 0 : OPEN,
    link_id: lastClick(at, path, terms) ?? null,
    dims_json: dimensionsText({ ...visit.dims, event }),
    touches_json: touchesText(touchesBefore(at, path?.touches ?? [], terms)),
  }
}

/**
 * Returns the touches before a transaction whose visit the retention has removed. What started up to that visit was removed as well, so it
 * stays as it was stored. Later touches are those that were found.
 */
export function frozenWithoutVisit(row: LostVisit & Pick<TransactionRow, "occurred_at">, path: Path | undefined, terms: PathTerms): Values {
  const stored = touchesOf(row).filter(({ at }) => at <= row.visit_started_at)
  const found = (path?.touches ?? []).filter(({ at }) => at > row.visit_started_at)
  return {
    is_open: 0,
    link_id: lastClick(row.occurred_at, path, terms) ?? row.link_id,
    touches_json: touchesText(touchesBefore(row.occurred_at, [...stored, ...found], terms)),
  }
}

const isWithin = (at: number, from: number, to: number): boolean => at >= from && at <= to

function touchesBefore(to: number, touches: readonly AnyTouch[], { isTouch, lookbackDays }: PathTerms): readonly AnyTouch[] {
  const from = to - lookbackDays * DAY_MS
  return limited(touches.filter((touch) => isWithin(touch.at, from, to) && isTouch(touch)))
}

function lastClick(to: number, path: Path | undefined, { lookbackDays }: PathTerms): number | undefined {
  const from = to - lookbackDays * DAY_MS
  return path?.clicks.findLast(({ at }) => isWithin(at, from, to))?.link_id
}

/** Returns the touches that are kept: the last one, and of the others that are not direct the first and the latest. */
function limited(touches: readonly AnyTouch[]): readonly AnyTouch[] {
  if (touches.length <= MAX_TOUCHES) return touches
  const last = touches.at(-1)!
  const named = touches.filter(({ source }) => source)
  const kept = named.length <= MAX_TOUCHES ? named : [named[0]!, ...named.slice(1 - MAX_TOUCHES)]
  return kept.at(-1) === last ? kept : [...kept, last]
}

/** Creates the test for visits that can be credited: not from the site itself, a payment page or a bank. */
export function touchTest(site: Site, { ignoredReferrers }: RevenueSettings): (touch: AnyTouch) => boolean {
  const hosts = new Set([...site.hosts.map((host) => host.replace(/^\*\./, "")), ...ignoredReferrers])
  const known = new Map<string, boolean>()
  return ({ referrer = "" }) => {
    const host = referrer.split("/")[0]!
    const isIgnored = known.get(host) ?? isBelow(host, hosts)
    known.set(host, isIgnored)
    return !isIgnored
  }
}
