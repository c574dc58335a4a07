/**
 * Integrations connect a site or an organization to outside services: webhooks receive its product events, and chat services messages
 * about them, payment providers report sales, search engines report queries, and people receive reports and alerts.
 */
import { definePlugin } from "#plugin"
import { alertingOf } from "./alerts/alerting.ts"
import type { Area, IntegrationsHost } from "./area.ts"
import { createChat } from "./chat/chat.ts"
import { chatKindsOf } from "./chat/connecting.ts"
import { beginDemo, fillDemo } from "./demo.ts"
import { ERRORS } from "./errors.ts"
import { EVENTS } from "./events.ts"
import { createIntegrations } from "./lifecycle.ts"
import createTables from "./migrations/0001_integrations.sql" with { type: "text" }
import createPaymentHooks from "./migrations/0002_payment_hooks.sql" with { type: "text" }
import createSearchStates from "./migrations/0003_search.sql" with { type: "text" }
import createReports from "./migrations/0010_reports.sql" with { type: "text" }
import createAlerts from "./migrations/0011_alerts.sql" with { type: "text" }
import { paymentsOf } from "./payments/payments.ts"
import { reportingOf } from "./reports/reporting.ts"
import { connectRoute, eventRoutes, integrationRoutes } from "./routes.ts"
import createSearchRows from "./row-migrations/0001_search.sql" with { type: "text" }
import { createSearch } from "./search/search.ts"
import { Settings } from "./settings.ts"
import { consumersOf, jobsOf, removeAll, removeSite } from "./upkeep.ts"
import { createDeliveries } from "./webhooks/deliveries.ts"
import { webhookRoutes } from "./webhooks/routes.ts"
import { createWebhooks } from "./webhooks/webhooks.ts"

export default definePlugin({
  id: "integrations",
  title: "Integrations",
  paths: {
    site: ["integrations", "search-console", "webhooks", "reports", "alerts"],
    instance: ["integrations"],
    open: ["api/hooks", "unsubscribe"],
  },
  pages: [
    "/sites/:site/integrations",
    "/sites/:site/integrations/connections/:integration",
    "/sites/:site/integrations/webhooks",
    "/sites/:site/integrations/webhooks/:webhook",
    "/sites/:site/integrations/alerts",
    "/sites/:site/integrations/payments",
    "/sites/:site/email-reports",
    "/sites/:site/search-queries",
  ],
  permissions: { "integrations:read": "editor", "integrations:write": "admin", "webhooks:write": "admin" },
  migrations: [
    { name: "0001_integrations", sql: createTables },
    { name: "0002_payment_hooks", sql: createPaymentHooks },
    { name: "0003_search", sql: createSearchStates },
    { name: "0010_reports", sql: createReports },
    { name: "0011_alerts", sql: createAlerts },
  ],
  rowMigrations: [{ name: "0001_search", sql: createSearchRows }],
  errors: ERRORS,
  events: EVENTS,
  settings: Settings,
  setup(host: IntegrationsHost) {
    const area = areaOf(host)
    const payments = paymentsOf(host)
    const reporting = reportingOf(host)
    const alerting = alertingOf(host, area.chat)
    const search = area.search.contribution(area.integrations)
    const connections = area.integrations.kinds.map((kind) => connectRoute(area, kind))
    return {
      routes: [
        ...[integrationRoutes(area), ...connections, webhookRoutes(area), eventRoutes(area)],
        ...[...payments.routes, ...reporting.routes, ...alerting.routes, ...search.routes],
      ],
      openRoutes: [...payments.openRoutes, ...reporting.openRoutes],
      jobs: { ...jobsOf(area), ...payments.jobs, ...reporting.jobs, ...alerting.jobs, ...search.jobs },
      widgets: search.widgets,
      consumers: { ...consumersOf(area), ...reporting.consumers, ...alerting.consumers },
      exporters: { ...payments.exporters, ...reporting.exporters, ...alerting.exporters, ...search.exporters },
      onSiteDelete: async (siteId) => ({
        ...(await removeSite(area, siteId)),
        ...(await payments.onSiteDelete(siteId)),
        ...(await reporting.onSiteDelete(siteId)),
        ...(await alerting.onSiteDelete(siteId)),
        ...(await search.onSiteDelete(siteId)),
      }),
      // URLs and tokens belong to the organization that entered them. Payment hooks stay, because the shop of the site is still the same.
      async onSiteTransfer(statements, transfer) {
        await removeAll(area, statements, { siteId: transfer.siteId })
        await reporting.onSiteTransfer(statements, transfer)
        await alerting.onSiteTransfer(statements, transfer)
      },
      async onMemberLeave(statements, leave) {
        await reporting.onMemberLeave(statements, leave)
        await alerting.onMemberLeave(statements, leave)
      },
      onEmailOutcome: reporting.onEmailOutcome,
      beginDemo: (demo) => beginDemo(area, demo),
      fillDemo: (demo) => fillDemo(area, demo),
      onOrganizationDelete: async (statements, organizationId) => void (await removeAll(area, statements, { organizationId })),
    }
  },
})

/** Creates the parts of the plugin. */
function areaOf(host: IntegrationsHost): Area {
  const deliveries = createDeliveries(host)
  const chat = createChat(host)
  const search = createSearch(host)
  const integrations = createIntegrations(host, [...search.kinds, ...chatKindsOf(host, chat)])
  return { host, deliveries, webhooks: createWebhooks(host, deliveries), chat, search, integrations }
}
