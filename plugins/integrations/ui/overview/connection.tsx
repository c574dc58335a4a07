import { useState } from "preact/hooks"
import { Link, useLocation, useParams } from "wouter"
import {
  Button,
  Card,
  Checkbox,
  Confirm,
  DescriptionList,
  NotFound,
  Problem,
  QueryResult,
  remove,
  TimeAgo,
  toast,
  useSiteId,
  visible,
} from "#plugin/ui"
import type { IntegrationResponse, TestResponse } from "../../responses.ts"
import {
  integrationsAddress,
  integrationsPath,
  SCOPE_LABELS,
  STATUS_LABELS,
  STATUS_TONES,
  useIntegrations,
  useRights,
  useSiteQuery,
} from "../answers.ts"
import { useEvents } from "../events/events.ts"
import { IntegrationsPage, StateText, TestSteps } from "../frame.tsx"
import { TYPE_LABELS } from "../search/report.ts"
import { ConnectDialog, type OpenDialog } from "./connect-dialog.tsx"
import { SyncButton, TestButton } from "./integration-card.tsx"
import { isAccount, isMapping, remedyOf } from "./remedies.ts"

/** Page of one integration: its state, a test with its steps, and what it is used for. */
export default function ConnectionPage() {
  const siteId = useSiteId()
  const id = useParams<{ integration: string }>().integration
  const answer = useSiteQuery<IntegrationResponse>(siteId, `integrations/${encodeURIComponent(id)}`)
  const list = useIntegrations(siteId).data
  const [dialog, setDialog] = useState<OpenDialog>()
  const [isDeleting, setDeleting] = useState(false)
  const [report, setReport] = useState<TestResponse>()
  const { writes } = useRights(siteId)
  const one = answer.data
  if (answer.error instanceof Problem && answer.error.status === 404) return <NotFound />
  const kind = list?.available.find((each) => each.kind === one?.kind)
  const remedy = one && list && remedyOf(one, list, writes)
  return (
    <IntegrationsPage
      siteId={siteId}
      title={one ? visible(one.name) : "Integration"}
      parent={{ href: integrationsAddress(siteId), label: "All integrations" }}
      actions={
        one &&
        kind &&
        one.can_manage && (
          <>
            <TestButton
              siteId={siteId}
              of={one}
              label={one.category === "chat" ? "Send test message" : "Test connection"}
              onTested={setReport}
            />
            {isMapping(one) && <SyncButton siteId={siteId} label="Fetch now" />}
            {(remedy === "reconnect" || !isMapping(one)) && (
              <Button icon="pencil" onClick={() => setDialog({ kind, item: one })}>
                {remedy === "reconnect" || isAccount(one) ? "Reconnect" : "Edit"}
              </Button>
            )}
            {one.kind === "search-console" && writes && (
              <Button onClick={() => setDialog({ kind, mapping: true, ...(isMapping(one) && { item: one }) })}>
                {isMapping(one) ? "Change property" : "Map property"}
              </Button>
            )}
            <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      <QueryResult of={answer} rows={6}>
        {(data) => (
          <div class="stack">
            {data.last_error && (
              <p class="notice" data-kind={data.status === "degraded" ? "warn" : "bad"}>
                {data.last_error.message}
              </p>
            )}
            <Card title="Connection" full>
              <Facts siteId={siteId} of={data} service={kind?.name ?? data.kind} />
            </Card>
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
      {dialog && <ConnectDialog siteId={siteId} of={dialog} onClose={() => setDialog(undefined)} />}
      {one && isDeleting && <DeleteDialog siteId={siteId} of={one} onClose={() => setDeleting(false)} />}
    </IntegrationsPage>
  )
}

function Facts({ siteId, of, service }: { siteId: number; of: IntegrationResponse; service: string }) {
  const known = useEvents().data
  const { config, category } = of
  const events = category === "chat" ? (config.events as string[]) : undefined // chats always have them
  const titleOf = (event: string): string => known?.find((one) => one.event === event)?.title ?? event
  const text = (name: string, value: unknown) => (typeof value === "string" ? [[name, visible(value)] as const] : [])
  const types = Array.isArray(config.search_types) ? config.search_types.map((type) => TYPE_LABELS[String(type)] ?? String(type)) : []
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
        ...text("Chat ID", config.chat_id),
        ...text("Property", config.property),
        ...text("Site", config.site_url),
        ...(types.length > 0 ? [["Search types", types.join(", ")] as const] : []),
        [category === "chat" ? "Messages about" : "Used for", SCOPE_LABELS[of.scope]],
        ...(events
          ? [["Events", events.length === 0 ? "None. Only alerts that are sent to this chat" : events.map(titleOf).join(", ")] as const]
          : []),
        ["Last success", <TimeAgo key="ok" at={of.last_ok_at} />],
        ...(of.last_error ? [["Last failure", <TimeAgo key="failed" at={of.last_error.at} />] as const] : []),
        ...(of.next_run_at ? [["Next run", <TimeAgo key="next" at={of.next_run_at} />] as const] : []),
        ...(category === "search" && of.scope === "site"
          ? [
              [
                "Report",
                <Link key="report" href={`/sites/${siteId}/search-queries`}>
                  Search queries
                </Link>,
              ] as const,
            ]
          : []),
      ]}
    />
  )
}

/** Says what ends with an integration, and asks for its name. The data that it has fetched can be kept. */
function DeleteDialog({ siteId, of, onClose }: { siteId: number; of: IntegrationResponse; onClose(): void }) {
  const [forgets, setForgets] = useState(false)
  const [, navigate] = useLocation()
  const name = visible(of.name)
  return (
    <Confirm
      title={`Delete ${name}?`}
      act="Delete integration"
      name={of.name}
      onClose={onClose}
      onConfirm={async () => {
        await remove(`${integrationsPath(siteId)}/${of.id}${forgets ? "?forget_data=true" : ""}`)
        // The next page fetches its own queries. The query of this one would fail.
        navigate(integrationsAddress(siteId), { replace: true })
        toast(`${name} deleted`)
      }}
    >
      <div class="stack">
        <p>{endOf(of)} This can't be undone.</p>
        {of.category === "search" && (
          <Checkbox label="Also delete the search data that was fetched" checked={forgets} onChange={setForgets} />
        )}
      </div>
    </Confirm>
  )
}

function endOf(one: IntegrationResponse): string {
  if (isAccount(one)) return "All sites of the organization lose access to the account, and no more data is fetched."
  if (isMapping(one)) return "No more data of this property is fetched. The account stays connected."
  if (one.category === "search") return "No more data is fetched, and the key is deleted."
  return one.scope === "organization"
    ? "All sites of the organization stop sending messages to this chat, and its secret is deleted."
    : "This site stops sending messages to this chat, and its secret is deleted."
}
