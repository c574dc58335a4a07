import type { OwnStatements } from "#plugin"
import type { IntegrationsHost } from "./area.ts"
import type { Integration, Status } from "./integration.ts"
import { noteFailure } from "./rows.ts"
import { searchFaultMessage } from "./search/failure.ts"

const MESSAGES: Readonly<Record<string, string>> = {
  blocked_address: "Requests to this address are not allowed.",
  name_not_resolved: "The host name cannot be resolved.",
  not_connected: "The server did not respond.",
  invalid_certificate: "The server's TLS certificate is not valid for this host name.",
  timeout: "The response took too long.",
  too_large: "The response is too large.",
  redirected: "The address redirects elsewhere. Enter the new address.",
  rejected: "The service rejected the message.",
  removed: "The service no longer knows this address or token. Connect it again.",
}

/** Returns the sentence for the code of a failure. */
export const failureMessage = (code: string): string => MESSAGES[code] ?? searchFaultMessage(code) ?? "The service could not be used."

interface FailOptions {
  /** Next attempt. null if only a person can end the failure, or if the kind does not run by itself. */
  nextRunAt?: number | null
  /** Whether no one is informed, because the failure of the account was reported already. */
  isSilent?: boolean
}

/**
 * Notes a failure of an integration. A change to `error` or `needs_reauth` writes one product event and sends one email to everyone who
 * can repair it.
 */
export async function fail(
  host: IntegrationsHost,
  integration: Integration,
  status: Status,
  code: string,
  { nextRunAt = null, isSilent = false }: FailOptions = {},
): Promise<void> {
  const { organization_id, site_id } = integration
  const isSerious = !isSilent && (status === "error" || status === "needs_reauth")
  const recipients = isSerious ? await host.services.access.holders(organization_id, "integrations:write", site_id ?? undefined) : []
  await host.db.transaction(async (statements) => {
    const changed = await noteFailure(statements, integration.id, { status, code, now: host.now(), nextRunAt })
    if (changed && isSerious) await report(host, statements, changed, recipients)
  })
}

async function report(
  host: IntegrationsHost,
  statements: OwnStatements,
  { id, organization_id, site_id, kind, name, status, last_error_code }: Integration,
  recipients: readonly string[],
): Promise<void> {
  const code = last_error_code ?? ""
  await host.outbox.write(statements, {
    event: "integration.needs_reauth",
    organizationId: organization_id,
    ...(site_id !== null && { siteId: site_id }),
    payload: { integration_id: id, provider: kind, status, code },
  })
  const place = site_id === null ? "" : `/sites/${site_id}/integrations/connections/${id}`
  const text = `The integration ${name} no longer works. ${failureMessage(code)}\n\nRepair it on the Integrations page:\n${host.baseUrl()}${place}`
  for (const to of recipients) await host.mail.post(statements, { to, subject: `The integration ${name} needs attention`, text })
}
