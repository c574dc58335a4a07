/** The integrations of the demo. */
import type { DemoRequest, DemoSite, DemoTraffic } from "#plugin"
import { createAlerts } from "./alerts/alerts.ts"
import { type Area, urlLabel } from "./area.ts"
import { storeWithSecret } from "./lifecycle.ts"
import { createPaymentHooks } from "./payments/hooks.ts"
import { createReports } from "./reports/reports.ts"
import { createSending } from "./reports/sending.ts"
import { mapProperty, storeSearches } from "./search/demo.ts"

/** Stores the searches of the traffic, which are known before it. No request arrives from them. */
export async function beginDemo({ host }: Area, demo: DemoTraffic): Promise<readonly DemoRequest[]> {
  await storeSearches(host, demo)
  return []
}

/**
 * Creates alerts, and a report, a webhook, a chat and a payment hook that show how they are set up. The first two are disabled, the chat
 * receives no event and the payment hook has no sender: no instance sends anything to an address that no user has entered.
 */
export async function fillDemo({ host, chat, webhooks }: Area, demo: DemoSite): Promise<void> {
  const { site, userId } = demo
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
  await mapProperty(host, demo)
  const signing_secret = `whsec_${Buffer.from(host.random(32)).toString("base64")}`
  await createPaymentHooks(host).create(author, { kind: "stripe", signing_secret }, nothingElse)
  const secret = "https://chat.shop.example/hooks/example-of-a-channel"
  const channel = { kind: "mattermost", name: "Team channel", scope: "site", account_label: urlLabel(secret) } as const
  const terms = { check: nothingElse, alongside: nothingElse }
  await storeWithSecret(host, author, { ...channel, secret, config: { events: [] } }, terms)
  if (!host.outbound.enabled) return
  const example = { url: "https://hooks.shop.example/footfall", events: ["goal.created", "site.updated"] }
  const { id } = await webhooks.create(author, { ...example, description: "Example: enter your URL and enable it" }, nothingElse)
  await webhooks.update(author, String(id), { enabled: false })
}
