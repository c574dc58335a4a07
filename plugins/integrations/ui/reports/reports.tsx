import { lazy } from "preact/compat"
import { useState } from "preact/hooks"
import {
  ActionMenu,
  Badges,
  type Column,
  Confirm,
  counted,
  Page,
  patch,
  post,
  remove,
  TimeAgo,
  timeText,
  toast,
  useRows,
  useSite,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { ReportResponse, SentResponse } from "../../reports/responses.ts"
import { type Tone, useRights } from "../answers.ts"
import { actionsColumn, ItemList, LazyDialog, stateColumn, useAct } from "../item-list.tsx"
import { hourText, KIND_LABELS, REPORTS, reportsPath, useRefresh } from "./items.ts"

const ReportEditor = lazy(() => import("./editor.tsx"))

/** Page with the reports of a site. Members without further permissions see and keep their own subscriptions. */
export default function Reports() {
  const siteId = useSiteId()
  const { writes } = useRights(siteId)
  const { data: site } = useSite(siteId)
  const label = writes ? "New report" : "Subscribe"
  return (
    <ItemList
      of={useRows<ReportResponse>(["reports", siteId, "list"], reportsPath(siteId))}
      caption="Reports"
      columns={columnsOf(siteId, site?.timezone)}
      empty="No reports yet. Email reports summarize the last day, week or month. Recipients don't need an account."
      create={[label, label]}
      editor={(onClose) => <ReportEditor siteId={siteId} onClose={onClose} />}
    >
      {(actions, list) => (
        <Page title="Email reports" actions={actions}>
          {list}
        </Page>
      )}
    </ItemList>
  )
}

const columnsOf = (siteId: number, timezone: string | undefined): Column<ReportResponse>[] => [
  {
    id: "kind",
    label: "Report",
    cell: (report) => (
      <div class="goal-name">
        <span>{REPORTS.nameOf(report)}</span>
        <span class="small quiet">
          {KIND_LABELS[report.kind]} at {hourText(report.hour)}
          {timezone && `, ${timezone}`}
        </span>
      </div>
    ),
  },
  { id: "recipients", label: "Recipients", cell: (report) => <Recipients of={report} /> },
  stateColumn(stateOf),
  { id: "last_sent_at", label: "Last sent", cell: ({ last_sent_at }) => <TimeAgo at={last_sent_at} /> },
  {
    id: "next_at",
    label: "Next",
    cell: ({ next_at }) => (next_at ? <time dateTime={next_at}>{timeText(next_at, timezone)}</time> : "–"),
  },
  actionsColumn((report) => report.can_manage && <ReportMenu siteId={siteId} report={report} />),
]

/** Returns the state of a report in words. */
export function stateOf({ enabled, channel, recipient_states }: ReportResponse): readonly [tone: Tone, text: string] {
  if (!enabled) return ["quiet", "Turned off"]
  if (channel === "chat" || recipient_states.some(({ state }) => state === "active")) return ["good", "Active"]
  return ["warn", "No active recipients"]
}

const SHOWN = 3
const RECIPIENT_BADGES: Readonly<Record<ReportResponse["recipient_states"][number]["state"], readonly string[]>> = {
  active: [],
  unsubscribed: ["unsubscribed"],
  failed: ["failed"],
}

/** The first recipients with their states, and the number of the others. */
function Recipients({ of: { channel, recipient_states } }: { of: ReportResponse }) {
  if (channel === "chat") return <>Chats that receive reports</>
  const others = recipient_states.length - SHOWN
  return (
    <ul>
      {recipient_states.slice(0, SHOWN).map(({ email, state }) => (
        <li key={email}>
          {visible(email)}
          <Badges of={RECIPIENT_BADGES[state]} />
        </li>
      ))}
      {others > 0 && <li class="small quiet">and {counted(others, "other")}</li>}
    </ul>
  )
}

function ReportMenu({ siteId, report }: { siteId: number; report: ReportResponse }) {
  const [dialog, setDialog] = useState<"edit" | "delete">()
  const refresh = useRefresh(siteId)
  const path = `${reportsPath(siteId)}/${report.id}`
  const name = REPORTS.nameOf(report)
  const close = () => setDialog(undefined)
  const act = useAct(refresh)
  return (
    <>
      <ActionMenu
        kind="quiet"
        label={`Actions for ${name} ${report.id}`}
        actions={[
          { label: "Edit", run: () => setDialog("edit") },
          {
            label: "Send now",
            run: () =>
              act(async () => {
                const { queued } = await post<SentResponse>(`${path}/send-now`, undefined)
                toast(`${counted(queued, report.channel === "chat" ? "message" : "email")} queued`)
              }),
          },
          {
            label: report.enabled ? "Turn off" : "Turn on",
            run: () =>
              act(
                () => patch(path, { enabled: !report.enabled, version: report.version }),
                `${name} turned ${report.enabled ? "off" : "on"}`,
              ),
          },
          { label: "Delete", kind: "danger", run: () => setDialog("delete") },
        ]}
      />
      {dialog === "edit" && (
        <LazyDialog>
          <ReportEditor siteId={siteId} item={report} onClose={close} />
        </LazyDialog>
      )}
      {dialog === "delete" && (
        <Confirm
          title={`Delete this ${name.toLowerCase()}?`}
          act="Delete report"
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            await refresh()
            toast(`${name} deleted`)
          }}
        >
          <p>The report will no longer be sent to its {counted(report.recipients.length, "recipient")}. This can't be undone.</p>
        </Confirm>
      )}
    </>
  )
}
