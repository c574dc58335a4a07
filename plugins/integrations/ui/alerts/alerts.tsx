import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import {
  ActionMenu,
  Button,
  type Column,
  Confirm,
  Dialog,
  errorText,
  PagedTable,
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
import { IntegrationsPage, StateText, TestSteps } from "../frame.tsx"
import { alertsPath, conditionText, TYPE_LABELS, useGoals, useRefresh } from "./items.ts"

const AlertEditor = lazy(() => import("./editor.tsx"))

/** Page with the alerts of a site. */
export default function Alerts() {
  const siteId = useSiteId()
  const { writes } = useRights(siteId)
  const list = useRows<AlertResponse>(["alerts", siteId, "list"], alertsPath(siteId))
  const goals = useGoals(siteId)
  const chats = useIntegrations(siteId).data?.data
  const [isCreating, setCreating] = useState(false)
  const create = (label: string) =>
    writes && (
      <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
        {label}
      </Button>
    )
  const goalOf = (id: number | null) => goals?.find((goal) => goal.id === id)?.name
  return (
    <IntegrationsPage siteId={siteId} title="Alerts" actions={list.rows?.length !== 0 && create("New alert")}>
      <PagedTable
        of={list}
        caption="Alerts"
        stacks
        columns={columnsOf({ siteId, writes, goalOf, chats })}
        keyOf={({ id }) => id}
        empty="No alerts yet. Alerts notify you when traffic spikes or drops, when data stops arriving, or when a goal is reached."
        step={create("Create your first alert")}
      />
      {isCreating && (
        <Suspense fallback={<div class="progress-line" />}>
          <AlertEditor siteId={siteId} onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </IntegrationsPage>
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
  {
    id: "state",
    label: "State",
    cell: (alert) => {
      const [tone, text] = stateOf(alert)
      return <StateText tone={tone}>{text}</StateText>
    },
  },
  {
    id: "channels",
    label: "Messages to",
    cell: ({ channels }) =>
      channels.length === 0 ? (
        "–"
      ) : (
        <ul>
          {channels.map((channel) => (
            <li key={JSON.stringify(channel)}>{visible(channelText(channel, chats))}</li>
          ))}
        </ul>
      ),
  },
  { id: "last_fired_at", label: "Last fired", cell: ({ last_fired_at }) => <TimeAgo at={last_fired_at} /> },
  ...(writes
    ? [
        {
          id: "actions",
          label: "Actions",
          cell: (alert: AlertResponse) => (
            <div class="goal-acts">
              <AlertMenu siteId={siteId} alert={alert} />
            </div>
          ),
        },
      ]
    : []),
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
  const act = async (run: () => Promise<unknown>) => {
    try {
      await run()
      await refresh()
    } catch (error) {
      toast(errorText(error as Error)) // only errors are thrown
    }
  }
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
              act(async () => {
                await patch(path, { enabled: !alert.enabled, version: alert.version })
                toast(`${name} turned ${alert.enabled ? "off" : "on"}`)
              }),
          },
          { label: "Delete", kind: "danger", run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && (
        <Suspense fallback={<div class="progress-line" />}>
          <AlertEditor siteId={siteId} item={alert} onClose={close} />
        </Suspense>
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
