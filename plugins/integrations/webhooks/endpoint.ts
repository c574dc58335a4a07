import type { IntegrationsHost } from "../area.ts"
import type { Webhook } from "./webhook.ts"

/** The decrypted URL and signing secrets of a webhook, in memory only. The URL is empty if it can't be decrypted. */
export interface Endpoint {
  url: string
  secrets: { text: string; until: number | null }[]
}

export async function openEndpoint(host: IntegrationsHost, webhook: Webhook): Promise<Endpoint> {
  const url = (await host.secrets.open(webhook.url_secret_id)) ?? ""
  const secrets: Endpoint["secrets"] = []
  for (const { id, valid_until } of webhook.secrets) {
    const text = await host.secrets.open(id)
    if (text !== undefined) secrets.push({ text, until: valid_until })
  }
  // A message without a signature can't be verified, so none is sent.
  return { url: secrets.length > 0 ? url : "", secrets }
}
