/** The integrations of the demo. */
import type { DemoSite } from "#plugin"
import { createAlerts } from "./alerts/alerts.ts"
import type { Area } from "./area.ts"
import { createReports } from "./reports/reports.ts"
import { createSending } from "./reports/sending.ts"

/**
 * Creates alerts, and a report and a webhook that show how they are set up. Both are disabled: a demo has no receiver, and no instance
 * sends anything to an address that no user has entered.
 */
export async function fillDemo({ host, chat, webhooks }: Area, { site, userId }: DemoSite): Promise<void> {
  const author = { site, userId, actor: host.audit.system }
  const nothingElse = async (): Promise<void> => {}
  const alerts = createAlerts(host, chat)
  await alerts.create(author, { type: "drop" }, nothingElse)
  await alerts.create(author, { type: "spike", threshold: 25, factor: 3 }, nothingElse)
  await createReports(host, createSending(host)).create(
    { ...author, user: { id: userId, email: "", email_verified_at: null }, permissions: new Set(["integrations:write"]) },
    { kind: "weekly", channel: "chat", enabled: false },
    nothingElse,
  )
  if (!host.outbound.enabled) return
  const example = { url: "https://hooks.shop.example/footfall", events: ["goal.created", "site.updated"] }
  const { id } = await webhooks.create(author, { ...example, description: "Example: enter your URL and enable it" }, nothingElse)
  await webhooks.update(author, String(id), { enabled: false })
}
