/**
 * Revenue: what the traffic earned, exact to the minor unit, with refunds, several currencies and attribution. Sales come from events,
 * payment providers, imports and members; each order counts once.
 */
import { definePlugin, PAYMENT_RECEIVED } from "#plugin"
import type { Area } from "./area.ts"
import { ERRORS } from "./errors.ts"
import { createAttribution } from "./folding/attribution.ts"
import { createFolding } from "./folding/folding.ts"
import { createFollowing } from "./folding/following.ts"
import { createPayments } from "./folding/payments.ts"
import { EVENTS } from "./folding/product-events.ts"
import { ALL, createRecompute, type Recompute } from "./folding/recompute.ts"
import { createVisibility } from "./folding/visibility.ts"
import { createWriting } from "./folding/writing.ts"
import { type RevenueHost, Settings } from "./host.ts"
import createSettingsTable from "./migrations/0001_settings.sql" with { type: "text" }
import addStoredCurrency from "./migrations/0002_stored_currency.sql" with { type: "text" }
import createPublished from "./migrations/0003_published.sql" with { type: "text" }
import { renameTransactions } from "./moving.ts"
import { createRates } from "./rates/rates.ts"
import { createProducts } from "./report/products.ts"
import { createReport } from "./report/report.ts"
import { reportRoutes } from "./report/routes.ts"
import createTransactions from "./row-migrations/0001_transactions.sql" with { type: "text" }
import createChunks from "./row-migrations/0002_chunks.sql" with { type: "text" }
import indexPersons from "./row-migrations/0003_person.sql" with { type: "text" }
import indexVisitorsByWeek from "./row-migrations/0004_visitor_by_week.sql" with { type: "text" }
import addStatedAt from "./row-migrations/0005_stated_at.sql" with { type: "text" }
import createUnpacked from "./row-migrations/0006_unpacked.sql" with { type: "text" }
import addAnnounced from "./row-migrations/0007_announced.sql" with { type: "text" }
import announceTogether from "./row-migrations/0008_announced_together.sql" with { type: "text" }
import reduceRandomPages from "./row-migrations/0009_few_random_pages.sql" with { type: "text" }
import { createSettings } from "./settings.ts"
import { settingsRoutes } from "./settings-routes.ts"
import { transactionRoutes } from "./transaction-routes.ts"
import { createList } from "./transactions/list.ts"
import { createManual } from "./transactions/manual.ts"
import {
  countOverdue,
  erasePerson,
  eraseVisits,
  exportedRates,
  exportedTransactions,
  jobsOf,
  removeSite,
  retain,
  undoImport,
} from "./upkeep.ts"
import { widgetsOf } from "./widgets.ts"

export default definePlugin({
  id: "revenue",
  title: "Revenue",
  paths: { site: ["revenue"] },
  pages: [
    "/sites/:site/revenue",
    "/sites/:site/revenue/transactions",
    "/sites/:site/revenue/transactions/:transaction",
    "/sites/:site/revenue/rates",
    "/sites/:site/revenue/settings",
  ],
  permissions: { "revenue:write": "editor", "revenue:settings": "admin" },
  migrations: [
    { name: "0001_settings", sql: createSettingsTable },
    { name: "0002_stored_currency", sql: addStoredCurrency },
    { name: "0003_published", sql: createPublished },
  ],
  rowMigrations: [
    { name: "0001_transactions", sql: createTransactions },
    { name: "0002_chunks", sql: createChunks },
    { name: "0003_person", sql: indexPersons },
    { name: "0004_visitor_by_week", sql: indexVisitorsByWeek },
    { name: "0005_stated_at", sql: addStatedAt },
    { name: "0006_unpacked", sql: createUnpacked },
    { name: "0007_announced", sql: addAnnounced },
    { name: "0008_announced_together", sql: announceTogether },
    { name: "0009_few_random_pages", sql: reduceRandomPages },
  ],
  moveRows: async () => renameTransactions,
  errors: ERRORS,
  events: EVENTS,
  settings: Settings,
  setup(host: RevenueHost) {
    const area = areaOf(host)
    const payments = createPayments(host, area.writing)
    const report = createReport(area)
    return {
      routes: [transactionRoutes(area), settingsRoutes(area), reportRoutes(host, report, createProducts(area))],
      widgets: widgetsOf(report),
      jobs: jobsOf(area),
      consumers: {
        // One consumer, because the refunds of an import are received before its undoing.
        "record-payments": {
          events: [PAYMENT_RECEIVED, "import.undone"],
          async consume({ event, site_id: siteId, payload }) {
            if (siteId === null) return
            if (event !== PAYMENT_RECEIVED) return undoImport(area, siteId, importOf(payload))
            await payments.record(siteId, payload)
            area.following.soon(siteId)
          },
        },
      },
      exporters: {
        transactions: (site, names) => exportedTransactions(area, site, names),
        rates: (site) => exportedRates(area, site),
      },
      onSiteDelete: (siteId) => removeSite(area, siteId),
      onRetention: (siteId, cutoffDay) => retain(area, siteId, cutoffDay),
      countOverdue: (siteId, cutoffDay) => countOverdue(area, siteId, cutoffDay),
      onPersonErase: (siteId, visitor) => erasePerson(area, siteId, visitor),
      onVisitsErase: (siteId, removed) => eraseVisits(area, siteId, removed),
    }
  },
})

const importOf = (payload: unknown): number => (payload as { import_id: number }).import_id // written by the area of imports

function areaOf(host: RevenueHost): Area {
  // Changes of settings and rates request a recomputation, which uses both.
  let recompute: Recompute
  const settings = createSettings(host, (statements, site) => recompute.request(statements, site, ALL))
  const rates = createRates(host, (from, siteId) => recompute.ratesChanged(from, siteId))
  const writing = createWriting({ host, settings, rates })
  const attribution = createAttribution(host, { settings, writing })
  recompute = createRecompute(host, { attribution, settings })
  const folding = createFolding(host, { writing, attribution })
  const following = createFollowing(host, { writing, folding, attribution })
  const manual = createManual(host, { writing, written: following.soon })
  const visibility = createVisibility(host, { writing, folding, changed: following.soon })
  return { host, settings, rates, writing, recompute, following, visibility, manual, list: createList(host) }
}
