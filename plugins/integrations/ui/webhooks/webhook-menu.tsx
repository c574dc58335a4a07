import { lazy } from "preact/compat"
import { useState } from "preact/hooks"
import { ActionMenu, Confirm, patch, post, remove, toast, visible } from "#plugin/ui"
import type { DeliveryResponse, WebhookResponse, WebhookWithSecret } from "../../webhooks/responses.ts"
import { LazyDialog, useAct } from "../item-list.tsx"
import { useRefresh, webhooksPath } from "./items.tsx"
import { SecretDialog } from "./secret-dialog.tsx"

const WebhookEditor = lazy(() => import("./editor.tsx"))

interface WebhookMenuProps {
  siteId: number
  webhook: WebhookResponse
  onDeleted?(): void
}

/** Menu with everything that can be done with a webhook, and the dialogs that it opens. */
export function WebhookMenu({ siteId, webhook, onDeleted }: WebhookMenuProps) {
  const [dialog, setDialog] = useState<"edit" | "rotate" | "delete">()
  const [secret, setSecret] = useState<string>()
  const refresh = useRefresh(siteId)
  const act = useAct(refresh)
  const path = `${webhooksPath(siteId)}/${webhook.id}`
  const name = visible(webhook.url)
  const close = () => setDialog(undefined)
  return (
    <>
      <ActionMenu
        kind="quiet"
        label={`Actions for ${name}`}
        actions={[
          ...(webhook.enabled ? [{ label: "Send test event", run: () => act(() => sendTest(siteId, webhook), "Test event sent") }] : []),
          { label: "Edit", run: () => setDialog("edit") },
          { label: "Rotate secret", run: () => setDialog("rotate") },
          {
            label: webhook.enabled ? "Turn off" : "Turn on",
            run: () =>
              act(() => setEnabled(siteId, webhook, !webhook.enabled), webhook.enabled ? "Webhook turned off" : "Webhook turned on"),
          },
          { label: "Delete", kind: "danger", run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && (
        <LazyDialog>
          <WebhookEditor siteId={siteId} item={webhook} onClose={close} />
        </LazyDialog>
      )}
      {dialog === "rotate" && (
        <Confirm
          title={`Rotate the secret of ${name}?`}
          act="Rotate secret"
          onClose={close}
          onConfirm={async () => {
            const rotated = await post<WebhookWithSecret>(`${path}/rotate-secret`, undefined)
            setSecret(rotated.secret)
            await refresh()
          }}
        >
          <p>A new signing secret is created and shown once. The old one also signs for 24 hours.</p>
        </Confirm>
      )}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${name}?`}
          act="Delete webhook"
          name={webhook.url}
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            // The page of the webhook is left. Its queries would fail, and the next page fetches its own.
            if (onDeleted) onDeleted()
            else await refresh()
            toast(`${name} deleted`)
          }}
        >
          <p>Events are no longer sent to this URL, and the delivery log is deleted. This can't be undone.</p>
        </Confirm>
      )}
      {secret !== undefined && <SecretDialog secret={secret} isRotated onClose={() => setSecret(undefined)} />}
    </>
  )
}

export const sendTest = (siteId: number, { id }: WebhookResponse): Promise<DeliveryResponse> =>
  post<DeliveryResponse>(`${webhooksPath(siteId)}/${id}/test`, undefined)

export const setEnabled = (siteId: number, { id, version }: WebhookResponse, enabled: boolean): Promise<WebhookResponse> =>
  patch<WebhookResponse>(`${webhooksPath(siteId)}/${id}`, { enabled, version })
