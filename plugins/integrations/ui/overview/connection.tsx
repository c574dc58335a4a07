import { lazy, Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter"
import { Button, Card, Confirm, DescriptionList, QueryResult, remove, TimeAgo, toast, useSiteId, visible } from "#plugin/ui"
import type { IntegrationResponse, TestResponse } from "../../responses.ts"
import {
  integrationsAddress,
  integrationsPath,
  remedyOf,
  SCOPE_LABELS,
  STATUS_LABELS,
  STATUS_TONES,
  useIntegrations,
  useRefresh,
  useSiteQuery,
} from "../answers.ts"
import { useEvents } from "../events/events.ts"
import { IntegrationsPage, StateText, TestSteps } from "../frame.tsx"
import { TestButton } from "./integration-card.tsx"

const ChatDialog = lazy(() => import("../chat/chat-dialog.tsx"))

/** Page of one integration: its state, a test with its steps, and what it receives. */
export default function ConnectionPage() {
  const siteId = useSiteId()
  const id = useParams<{ integration: string }>().integration
  const answer = useSiteQuery<IntegrationResponse>(siteId, `integrations/${encodeURIComponent(id)}`)
  const kinds = useIntegrations(siteId).data?.available
  const [dialog, setDialog] = useState<"edit" | "delete">()
  const [report, setReport] = useState<TestResponse>()
  const refresh = useRefresh(siteId)
  const [, navigate] = useLocation()
  const one = answer.data
  const kind = kinds?.find((each) => each.kind === one?.kind)
  const close = () => setDialog(undefined)
  return (
    <IntegrationsPage
      siteId={siteId}
      title={one ? visible(one.name) : "Integration"}
      actions={
        one?.can_manage && (
          <>
            <TestButton siteId={siteId} of={one} label="Send test message" onTested={setReport} />
            <Button icon="pencil" onClick={() => setDialog("edit")}>
              {remedyOf(one) === "reconnect" ? "Reconnect" : "Edit"}
            </Button>
            <Button kind="danger" icon="trash" onClick={() => setDialog("delete")}>
              Delete
            </Button>
          </>
        )
      }
    >
      <p class="small">
        <Link href={integrationsAddress(siteId)}>All integrations</Link>
      </p>
      <QueryResult of={answer} rows={6}>
        {(data) => (
          <div class="stack reading-width">
            <Facts of={data} service={kind?.name ?? data.kind} />
            {data.last_error && (
              <p class="notice" data-kind={data.status === "degraded" ? "warn" : "bad"}>
                {data.last_error.message}
              </p>
            )}
            {report && (
              <Card title="Test" full>
                <div role="status">
                  <p class="small quiet">
                    {report.ok ? "The test succeeded" : "The test failed"} after {report.ms} ms.
                  </p>
                  <TestSteps of={report.steps} />
                </div>
              </Card>
            )}
          </div>
        )}
      </QueryResult>
      {one && kind && dialog === "edit" && (
        <Suspense fallback={<div class="progress-line" />}>
          <ChatDialog siteId={siteId} kind={kind} item={one} onClose={close} />
        </Suspense>
      )}
      {one && dialog === "delete" && (
        <Confirm
          title={`Delete ${visible(one.name)}?`}
          act="Delete integration"
          name={one.name}
          onClose={close}
          onConfirm={async () => {
            await remove(`${integrationsPath(siteId)}/${one.id}`)
            navigate(integrationsAddress(siteId), { replace: true })
            // The page of what was deleted is left first, so that it isn't fetched again.
            setTimeout(refresh)
            toast(`${visible(one.name)} deleted`)
          }}
        >
          <p>
            {one.scope === "organization" ? "No site of the organization" : "This site no longer"} sends messages to it
            {one.scope === "organization" ? " any more" : ""}, and its secret is removed. This can't be undone.
          </p>
        </Confirm>
      )}
    </IntegrationsPage>
  )
}

function Facts({ of, service }: { of: IntegrationResponse; service: string }) {
  const known = useEvents().data
  const events = of.category === "chat" ? (of.config.events as string[]) : undefined // chats always have them
  const titleOf = (event: string): string => known?.find((one) => one.event === event)?.title ?? event
  return (
    <DescriptionList
      of={[
        [
          "State",
          <StateText key="state" tone={STATUS_TONES[of.status]}>
            {STATUS_LABELS[of.status]}
          </StateText>,
        ],
        ["Service", service],
        ["Account", visible(of.account_label)],
        ...(typeof of.config.chat_id === "string" ? [["Chat ID", visible(of.config.chat_id)] as const] : []),
        ["Messages about", SCOPE_LABELS[of.scope]],
        ...(events ? [["Events", events.length === 0 ? "None, only alerts that name it" : events.map(titleOf).join(", ")] as const] : []),
        ["Last success", <TimeAgo key="ok" at={of.last_ok_at} />],
        ...(of.last_error ? [["Last failure", <TimeAgo key="failed" at={of.last_error.at} />] as const] : []),
        ...(of.next_run_at ? [["Next run", <TimeAgo key="next" at={of.next_run_at} />] as const] : []),
      ]}
    />
  )
}
