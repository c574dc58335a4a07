import { useState } from "preact/hooks"
import { Link } from "wouter"
import { Button, DescriptionList, errorText, post, TimeAgo, toast, visible } from "#plugin/ui"
import type { IntegrationList, IntegrationResponse, TestResponse } from "../../responses.ts"
import { integrationsAddress, integrationsPath, STATUS_LABELS, STATUS_TONES, useRefresh, useRights } from "../answers.ts"
import { StateText } from "../frame.tsx"
import { isMapping, remedyOf } from "./remedies.ts"

interface IntegrationCardProps {
  siteId: number
  of: IntegrationResponse
  list: IntegrationList
  /** Opens the dialog that connects the integration again, or maps a property. */
  onDialog(mapping?: true): void
}

/** Card of an integration: its state, account, last success, next run, and the cause of an error with the action that repairs it. */
export function IntegrationCard({ siteId, of, list, onDialog }: IntegrationCardProps) {
  const { name, status, account_label, last_ok_at, last_error, next_run_at, scope, config } = of
  return (
    <li class="source-card">
      <h3>
        <Link href={`${integrationsAddress(siteId)}/connections/${of.id}`}>{visible(name)}</Link>
      </h3>
      <StateText tone={STATUS_TONES[status]}>{STATUS_LABELS[status]}</StateText>
      <DescriptionList
        of={[
          ["Account", visible(account_label)],
          ...(typeof config.property === "string" ? [["Property", visible(config.property)] as const] : []),
          ["Last success", <TimeAgo key="ok" at={last_ok_at} />],
          ...(next_run_at ? [["Next run", <TimeAgo key="next" at={next_run_at} />] as const] : []),
          ...(scope === "organization" ? [["Scope", "All sites"] as const] : []),
        ]}
      />
      {last_error && <p class="small down">{last_error.message}</p>}
      <RemedyButton siteId={siteId} of={of} list={list} onDialog={onDialog} />
    </li>
  )
}

/** Button for the one action that repairs an integration. Renders nothing if it works, or if the user can't change it. */
function RemedyButton({ siteId, of, list, onDialog }: IntegrationCardProps) {
  const { writes } = useRights(siteId)
  const remedy = remedyOf(of, list, writes)
  if (remedy === "reconnect") return <Button onClick={() => onDialog()}>Reconnect</Button>
  if (remedy === "map") return <Button onClick={() => onDialog(true)}>Map property</Button>
  if (remedy === undefined) return null
  return isMapping(of) ? <SyncButton siteId={siteId} label="Try again" /> : <TestButton siteId={siteId} of={of} label="Try again" />
}

interface TestButtonProps extends Pick<IntegrationCardProps, "siteId" | "of"> {
  label: string
  onTested?(report: TestResponse): void
}

/** Button that tests an integration, and says how that went. */
export function TestButton({ siteId, of, label, onTested }: TestButtonProps) {
  const run = async () => {
    const report = await post<TestResponse>(`${integrationsPath(siteId)}/${of.id}/test`, undefined)
    const failed = report.steps.find(({ ok }) => !ok)
    if (onTested) onTested(report)
    else toast(failed ? failed.detail : `${visible(of.name)} works again`)
  }
  return <ActButton siteId={siteId} label={label} run={run} />
}

/** Button that fetches search data now. */
export const SyncButton = ({ siteId, label }: { siteId: number; label: string }) => (
  <ActButton
    siteId={siteId}
    label={label}
    run={async () => {
      await post(`${integrationsPath(siteId)}/search-console/sync`, undefined)
      toast("Search data is being fetched")
    }}
  />
)

function ActButton({ siteId, label, run }: { siteId: number; label: string; run(): Promise<unknown> }) {
  const [busy, setBusy] = useState(false)
  const refresh = useRefresh(siteId)
  return (
    <Button
      busy={busy}
      onClick={async () => {
        setBusy(true)
        try {
          await run()
          await refresh()
        } catch (error) {
          toast(errorText(error as Error)) // only errors are thrown
        } finally {
          setBusy(false)
        }
      }}
    >
      {label}
    </Button>
  )
}
