import { lazy } from "preact/compat"
import { useState } from "preact/hooks"
import {
  ActionMenu,
  Button,
  type Column,
  Confirm,
  Dialog,
  patch,
  post,
  remove,
  TimeAgo,
  toast,
  useRows,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { AlertResponse } from "../../alerts/responses.ts"
import type { IntegrationResponse, TestResponse } from "../../responses.ts"
import { type Tone, useIntegrations, useRights } from "../answers.ts"
import { IntegrationsPage, TestSteps } from "../frame.tsx"
import { actionsColumn, ItemList, LazyDialog, stateColumn, useAct } from "../item-list.tsx"
import { alertsPath, conditionText, TYPE_LABELS, useGoals, useRefresh } from "./items.ts"

const AlertEditor = lazy(() => import("./editor.tsx"))

/** Page with the alerts of a site. */
export default function Alerts() {
  const siteId = useSiteId()
  const { writes } = useRights(siteId)
  const goals = useGoals(siteId)
  const chats = useIntegrations(siteId).data?.data
  const goalOf = (id: number | null) => goals?.find((goal) => goal.id === id)?.name
  return (
    <ItemList
      of={useRows<AlertResponse>(["alerts", siteId, "list"], alertsPath(siteId))}
      caption="Alerts"
      columns={columnsOf({ siteId, writes, goalOf, chats })}
      empty="No alerts yet. Alerts notify you when traffic spikes or drops, when data stops arriving, or when a goal is reached."
      create={writes ? ["New alert", "Create your first alert"] : undefined}
      editor={(onClose) => <AlertEditor siteId={siteId} onClose={onClose} />}
    >
      {(actions, list) => (
        <IntegrationsPage siteId={siteId} title="Alerts" actions={actions}>
          {list}
        </IntegrationsPage>
      )}
    </ItemList>
  )
}

/** Returns the state of an alert in words. */
function stateOf({ enabled, state }: AlertResponse): readonly [tone: Tone, text: string] {
  if (!enabled) return ["quiet", "Turned off"]
  return state === "firing" ? ["bad", "Firing"] : ["good", "Watching"]
}

interface Columns {
  siteId: number
  writes: boolean
  goalOf(id: number | null): string | undefined
  chats: readonly IntegrationResponse[] | undefined
}

const columnsOf = ({ siteId, writes, goalOf, chats }: Columns): Column<AlertResponse>[] => [
  {
    id: "type",
    label: "Alert",
    cell: (alert) => (
      <div class="goal-name">
        <span>{TYPE_LABELS[alert.type]}</span>
        <span class="small quiet">{visible(conditionText(alert, goalOf(alert.goal_id)))}</span>
      </div>
    ),
  },
  stateColumn(stateOf),
  {
    id: "channels",
    label: "Messages to",
    cell: ({ channels }) =>
      channels.length === 0 ? (
        <span class="quiet">no one</span>
      ) : (
        <ul>
          {channels.map((channel) => (
            <li key={JSON.stringify(channel)}>{visible(channelText(channel, chats))}</li>
          ))}
        </ul>
      ),
  },
  { id: "last_fired_at", label: "Last fired", cell: ({ last_fired_at }) => <TimeAgo at={last_fired_at} /> },
  ...(writes ? [actionsColumn((alert: AlertResponse) => <AlertMenu siteId={siteId} alert={alert} />)] : []),
]

const channelText = (channel: AlertResponse["channels"][number], chats: readonly IntegrationResponse[] | undefined): string =>
  channel.type === "email" ? channel.address : (chats?.find(({ id }) => id === channel.integration_id)?.name ?? "Removed chat")

function AlertMenu({ siteId, alert }: { siteId: number; alert: AlertResponse }) {
  const [dialog, setDialog] = useState<"edit" | "delete">()
  const [report, setReport] = useState<TestResponse>()
  const refresh = useRefresh(siteId)
  const path = `${alertsPath(siteId)}/${alert.id}`
  const name = TYPE_LABELS[alert.type]
  const close = () => setDialog(undefined)
  const act = useAct(refresh)
  return (
    <>
      <ActionMenu
        kind="quiet"
        label={`Actions for ${name} ${alert.id}`}
        actions={[
          { label: "Edit", run: () => setDialog("edit") },
          { label: "Send test message", run: () => act(async () => setReport(await post<TestResponse>(`${path}/test`, undefined))) },
          {
            label: alert.enabled ? "Turn off" : "Turn on",
            run: () =>
              act(() => patch(path, { enabled: !alert.enabled, version: alert.version }), `${name} turned ${alert.enabled ? "off" : "on"}`),
          },
          { label: "Delete", kind: "danger", run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && (
        <LazyDialog>
          <AlertEditor siteId={siteId} item={alert} onClose={close} />
        </LazyDialog>
      )}
      {dialog === "delete" && (
        <Confirm
          title="Delete this alert?"
          act="Delete alert"
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            await refresh()
            toast(`${name} deleted`)
          }}
        >
          <p>
            {name}: {visible(conditionText(alert))}. This can't be undone.
          </p>
        </Confirm>
      )}
      {report && (
        <Dialog title={report.ok ? "The test succeeded" : "The test failed"} onClose={() => setReport(undefined)} small>
          {report.steps.length === 0 ? (
            <p>This alert has no email addresses or chats, so nothing was sent.</p>
          ) : (
            <TestSteps of={report.steps} />
          )}
          <div class="dialog-foot">
            <Button kind="primary" onClick={() => setReport(undefined)}>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
