/** Payments: the hooks at which payment providers report sales, refunds and disputes, and what they leave as neutral payment objects. */
import type { Contribution } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { createPaymentHooks } from "./hooks.ts"
import { createReceiving } from "./receiving.ts"
import { paymentHookRoutes, receivingRoutes } from "./routes.ts"
import { exportedHooks, pruningOf, removePaymentHooks } from "./upkeep.ts"

type Parts = Required<Pick<Contribution, "routes" | "openRoutes" | "jobs" | "exporters" | "onSiteDelete">>

export const paymentsOf = (host: IntegrationsHost): Parts => ({
  routes: [paymentHookRoutes(host, createPaymentHooks(host))],
  openRoutes: [receivingRoutes(host, createReceiving(host))],
  jobs: { "prune-payments": pruningOf(host) },
  exporters: { hooks: (site) => exportedHooks(host, site) },
  onSiteDelete: (siteId) => removePaymentHooks(host, siteId),
})
