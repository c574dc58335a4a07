import type { ListedSite } from "./site-list.ts"

export const SORTS = ["visitors", "name", "change", "created"] as const
export type Sort = (typeof SORTS)[number]

/** Returns the sites whose name or host contains the text, sorted, pinned sites first. Sites without a figure come last. */
export function ordered(sites: readonly ListedSite[], wanted: string, sort: Sort): ListedSite[] {
  const part = wanted.trim().toLowerCase()
  const found = sites.filter(({ name, hosts }) => [name, ...hosts].some((text) => text.toLowerCase().includes(part)))
  return found.sort((a, b) => Number(b.pinned) - Number(a.pinned) || compare(a, b, sort) || a.id - b.id)
}

function compare(a: ListedSite, b: ListedSite, sort: Sort): number {
  if (sort === "name") return a.name.localeCompare(b.name)
  if (sort === "created") return b.created_at.localeCompare(a.created_at)
  const of = (site: ListedSite) => (sort === "visitors" ? site.visitors : site.change_percent) ?? Number.NEGATIVE_INFINITY
  const [left, right] = [of(a), of(b)]
  return left === right ? 0 : right - left
}

/** Groups sites by organization, sorted by name. Returns one unnamed group if there is only one organization. */
export function grouped(sites: readonly ListedSite[]): { name: string | undefined; sites: ListedSite[] }[] {
  const groups = [...Map.groupBy(sites, ({ organization }) => organization.id).values()]
  if (groups.length < 2) return [{ name: undefined, sites: [...sites] }]
  return groups.map((own) => ({ name: own[0]!.organization.name, sites: own })).sort((a, b) => a.name.localeCompare(b.name))
}

const DAY_MS = 86_400_000
/** Minimum visitors of a day for a spike. Lower numbers vary too much by chance. */
const MIN_SPIKE_VISITORS = 100
/** Multiple of the usual visitors that counts as a spike. */
const SPIKE = 3

/** Returns why a site needs attention, or undefined. `now` is in epoch milliseconds. */
export function troubleOf(site: ListedSite, now: number): string | undefined {
  if (site.last_event_at === null) return "Waiting for the first event"
  const quiet = Math.floor((now - Date.parse(site.last_event_at)) / DAY_MS)
  if (quiet >= 1) return quiet === 1 ? "No data for 1 day" : `No data for ${quiet} days`
  const days = site.visitors_by_day ?? []
  const today = days.at(-1) ?? 0
  const usual = days.slice(0, -1).reduce((sum, count) => sum + count, 0) / Math.max(1, days.length - 1)
  return usual > 0 && today >= MIN_SPIKE_VISITORS && today > SPIKE * usual ? "Unusually many visitors today" : undefined
}
