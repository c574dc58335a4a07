import type { OwnStatements } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { updateWebhook } from "./rows.ts"
import type { DisabledReason, Webhook } from "./webhook.ts"

/** Disables a webhook, with an audit entry, a product event, and an email to everyone who can repair it. */
export async function disable(
  host: IntegrationsHost,
  statements: OwnStatements,
  webhook: Webhook,
  { reason, recipients }: { reason: Exclude<DisabledReason, "manual">; recipients: readonly string[] },
): Promise<void> {
  const { id, organization_id, site_id, url_label } = webhook
  await updateWebhook(statements, id, { ...webhook, enabled: false, disabled_reason: reason }, host.now())
  const place = { organizationId: organization_id, ...(site_id !== null && { siteId: site_id }) }
  await host.audit.write(statements, host.audit.system, {
    action: "integrations.webhook.disable",
    target: { type: "webhook", id, label: url_label },
    ...place,
    changes: { enabled: [true, false], disabled_reason: [null, reason] },
  })
  await host.outbox.write(statements, { event: "webhook.disabled", ...place, payload: { webhook_id: id, url: url_label, reason } })
  for (const to of recipients) await host.mail.post(statements, { to, ...disabledEmail(host, webhook, reason) })
}

/** Returns the addresses of the people who can repair a webhook. Call it before the transaction. */
export const recipientsOf = (host: IntegrationsHost, { organization_id, site_id }: Webhook): Promise<string[]> =>
  host.services.access.holders(organization_id, "webhooks:write", site_id ?? undefined)

function disabledEmail(
  host: IntegrationsHost,
  { id, site_id, url_label }: Webhook,
  reason: "failing" | "gone",
): { subject: string; text: string } {
  const site = site_id === null ? undefined : host.services.sites.directory.byId(site_id)
  const cause =
    reason === "gone" ? "Its receiver answered that it no longer exists (status 410)." : "No event could be delivered to it for five days."
  return {
    subject: `Webhook ${url_label} was disabled`,
    text: [
      `Footfall no longer sends events${site ? ` of ${site.name}` : ""} to the webhook ${url_label}. ${cause}`,
      `Check the receiver, then turn on the webhook on the Integrations page. Events since then are not sent later.\n${host.baseUrl()}${site_id === null ? "" : `/sites/${site_id}/integrations/webhooks/${id}`}`,
    ].join("\n\n"),
  }
}
