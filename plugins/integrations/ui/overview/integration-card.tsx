import { useState } from "preact/hooks"
import { Link } from "wouter"
import { Button, DescriptionList, errorText, post, TimeAgo, toast, visible } from "#plugin/ui"
import type { IntegrationResponse, TestResponse } from "../../responses.ts"
import { integrationsAddress, integrationsPath, remedyOf, STATUS_LABELS, STATUS_TONES, useRefresh } from "../answers.ts"
import { StateText } from "../frame.tsx"

interface IntegrationCardProps {
  siteId: number
  of: IntegrationResponse
  onReconnect(item: IntegrationResponse): void
}

/** Card of an integration: its state, account, last success, next run, and the cause of an error with the action that repairs it. */
export function IntegrationCard({ siteId, of, onReconnect }: IntegrationCardProps) {
  const { name, status, account_label, last_ok_at, last_error, next_run_at, scope } = of
  return (
    <li class="source-card">
      <h3>
        <Link href={`${integrationsAddress(siteId)}/connections/${of.id}`}>{visible(name)}</Link>
      </h3>
      <StateText tone={STATUS_TONES[status]}>{STATUS_LABELS[status]}</StateText>
      <DescriptionList
        of={[
          ["Account", visible(account_label)],
          ["Last success", <TimeAgo key="ok" at={last_ok_at} />],
          ...(next_run_at ? [["Next run", <TimeAgo key="next" at={next_run_at} />] as const] : []),
          ...(scope === "organization" ? [["Scope", "All sites"] as const] : []),
        ]}
      />
      {last_error && <p class="small down">{last_error.message}</p>}
      <RemedyButton siteId={siteId} of={of} onReconnect={onReconnect} />
    </li>
  )
}

/** Button for the one action that repairs an integration. Renders nothing if it works, or if the user can't change it. */
export function RemedyButton({ siteId, of, onReconnect }: IntegrationCardProps) {
  const remedy = remedyOf(of)
  if (!remedy || !of.can_manage) return null
  return remedy === "reconnect" ? (
    <Button onClick={() => onReconnect(of)}>Reconnect</Button>
  ) : (
    <TestButton siteId={siteId} of={of} label="Try again" />
  )
}

interface TestButtonProps extends Pick<IntegrationCardProps, "siteId" | "of"> {
  label: string
  onTested?(report: TestResponse): void
}

/** Button that tests an integration, and says how that went. */
export function TestButton({ siteId, of, label, onTested }: TestButtonProps) {
  const [busy, setBusy] = useState(false)
  const refresh = useRefresh(siteId)
  return (
    <Button
      busy={busy}
      onClick={async () => {
        setBusy(true)
        try {
          const report = await post<TestResponse>(`${integrationsPath(siteId)}/${of.id}/test`, undefined)
          const failed = report.steps.find(({ ok }) => !ok)
          if (onTested) onTested(report)
          else toast(failed ? failed.detail : `${visible(of.name)} works again`)
          await refresh()
        } catch (error) {
          toast(errorText(error as Error))
        } finally {
          setBusy(false)
        }
      }}
    >
      {label}
    </Button>
  )
}
