import { lazy } from "preact/compat"
import { useState } from "preact/hooks"
import { ActionMenu, type Column, Confirm, patch, remove, TimeAgo, timeText, toast, useRows, useSiteId, visible } from "#plugin/ui"
import type { HookResponse } from "../../payments/responses.ts"
import { integrationsPath, useRefresh, useRights } from "../answers.ts"
import { IntegrationsPage } from "../frame.tsx"
import { actionsColumn, ItemList, LazyDialog, stateColumn, useAct } from "../item-list.tsx"
import { PROVIDERS, stateOf } from "./providers.ts"

const HookDialog = lazy(() => import("./hook-dialog.tsx"))
const SecretDialog = lazy(() => import("./secret-form.tsx"))

/** Page with the payment hooks of a site. */
export default function Payments() {
  const siteId = useSiteId()
  const { writes } = useRights(siteId)
  return (
    <ItemList
      of={useRows<HookResponse>(["integrations", siteId, "hooks"], `${integrationsPath(siteId)}/hooks`)}
      caption="Payment hooks"
      columns={columnsOf(siteId, writes)}
      empty="No payment hooks yet. A payment hook is a URL to which a payment provider reports sales and refunds, so that revenue doesn't depend on browser tracking."
      create={writes ? ["New payment hook", "Create your first payment hook"] : undefined}
      editor={(onClose) => <HookDialog siteId={siteId} onClose={onClose} />}
    >
      {(actions, list) => (
        <IntegrationsPage siteId={siteId} title="Payment hooks" actions={actions}>
          {list}
        </IntegrationsPage>
      )}
    </ItemList>
  )
}

const RESULTS: Readonly<Record<NonNullable<HookResponse["last_event"]>["result"], string>> = {
  published: "recorded",
  ignored: "ignored",
  failed: "not understood",
}

const columnsOf = (siteId: number, writes: boolean): Column<HookResponse>[] => [
  {
    id: "kind",
    label: "Provider",
    cell: ({ kind, created_at }) => (
      <div class="goal-name">
        <span>{PROVIDERS[kind].label}</span>
        <span class="small quiet">
          Created <TimeAgo at={created_at} />
        </span>
      </div>
    ),
  },
  stateColumn(stateOf),
  {
    id: "last",
    label: "Last event",
    cell: ({ last_event }) =>
      last_event === null ? (
        "–"
      ) : (
        <div class="wide">
          <TimeAgo at={last_event.at} />, {RESULTS[last_event.result]}
          {last_event.detail !== "" && <p class="small quiet">{visible(last_event.detail)}</p>}
        </div>
      ),
  },
  {
    id: "secret",
    label: "Signing secret",
    cell: ({ secret, previous_secret_until }) => (
      <div>
        {secret.set ? (secret.hint ?? "Set") : "–"}
        {previous_secret_until && <p class="small quiet">The old one is valid until {timeText(previous_secret_until)}</p>}
      </div>
    ),
  },
  ...(writes ? [actionsColumn((hook: HookResponse) => <HookMenu siteId={siteId} hook={hook} />)] : []),
]

function HookMenu({ siteId, hook }: { siteId: number; hook: HookResponse }) {
  const [dialog, setDialog] = useState<"secret" | "delete">()
  const refresh = useRefresh(siteId)
  const path = `${integrationsPath(siteId)}/hooks/${hook.id}`
  const { label } = PROVIDERS[hook.kind]
  const close = () => setDialog(undefined)
  const act = useAct(refresh)
  const setEnabled = (enabled: boolean) =>
    act(() => patch(path, { enabled, version: hook.version }), `${label} turned ${enabled ? "on" : "off"}`)
  return (
    <>
      <ActionMenu
        kind="quiet"
        label={`Actions for ${label}`}
        actions={[
          { label: hook.secret.set ? "Rotate secret" : "Enter signing secret", run: () => setDialog("secret") },
          { label: hook.enabled ? "Turn off" : "Turn on", run: () => setEnabled(!hook.enabled) },
          { label: "Delete", kind: "danger", run: () => setDialog("delete") },
        ]}
      />
      {dialog === "secret" && (
        <LazyDialog>
          <SecretDialog siteId={siteId} hook={hook} onClose={close} />
        </LazyDialog>
      )}
      {dialog === "delete" && (
        <Confirm
          title={`Delete the payment hook of ${label}?`}
          act="Delete payment hook"
          name={label}
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            await refresh()
            toast(`Payment hook of ${label} deleted`)
          }}
        >
          <p>Its URL stops working, and the stored events are removed. Recorded payments remain. This can't be undone.</p>
        </Confirm>
      )}
    </>
  )
}
