import { DEFAULT_SETTINGS, type Site } from "../../src/domain/site.ts"
import type { Engine } from "../../src/query/engine/engine.ts"
import { funnel } from "../../src/query/funnel/funnel.ts"
import { aggregate, comparedTables } from "../../src/query/measure/aggregate.ts"
import { suggest } from "../../src/query/rows/suggest.ts"
import { SITES } from "./values.ts"
import type { World } from "./world.ts"

/** The sites of the world as the services see them. */
export const sites = SITES.map(
  ({ id, revenueCurrency, bounceEngagedSeconds }): Site => ({
    id,
    organization_id: 1,
    name: `Site ${id}`,
    hosts: ["example.com"],
    hosts_listed_at: {},
    timezone: "Europe/Berlin",
    retention_days: null,
    revenue_currency: revenueCurrency,
    tracking_id: `site-${id}`,
    settings: { ...DEFAULT_SETTINGS, bounce_engaged_seconds: bounceEngagedSeconds, identity_mode: "monthly" },
    identity_history: [],
    created_at: 0,
    updated_at: 0,
    version: 1,
  }),
)

/** Returns an engine that queries the current state of the world's store on this thread. Queries that no test makes throw. */
export function engineOf(world: World): Engine {
  const refuse = () => {
    throw new Error("No test runs this query")
  }
  const unwatched = () => {}
  return {
    aggregate: async (query) => aggregate(world.snapshot(query.site.id), query, unwatched),
    compare: async (query) => comparedTables(world.snapshot(query.site.id), query, unwatched),
    funnel: async (query) => funnel(world.snapshot(query.site.id), query, unwatched),
    suggest: async (query) => suggest(world.snapshot(query.site.id), query, unwatched),
    funnels: refuse,
    retention: refuse,
    realtime: refuse,
    paths: refuse,
    evaluate: refuse,
    members: refuse,
    propertyKeys: refuse,
    pulse: refuse,
    lastMatch: refuse,
    signals: refuse,
    visitsWeight: refuse,
    chosenVisits: refuse,
    tally: refuse,
    rows: refuse,
    exportRows: refuse,
    exportBreakdown: refuse,
    importFacts: refuse,
    importedRows: refuse,
    coverage: refuse,
    activeDays: refuse,
    peopleList: refuse,
    person: refuse,
    engagement: refuse,
    amounts: refuse,
    sums: refuse,
    saleVisits: refuse,
    touches: refuse,
    visitList: refuse,
    visitTimeline: refuse,
    close: async () => {},
  }
}
