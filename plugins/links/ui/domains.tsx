import { useState } from "preact/hooks"
import {
  Button,
  Confirm,
  CopyButton,
  DescriptionList,
  Dialog,
  EmptyState,
  Form,
  patch,
  post,
  QueryResult,
  remove,
  TextField,
  timeText,
  toast,
  visible,
} from "#plugin/ui"
import type { DomainResponse } from "../responses.ts"
import { domainsPath, useDomains, useRefresh, useRights } from "./answers.ts"

export interface PanelProps {
  siteId: number
  onClose(): void
}

/** Link domains of the organization: their verification and default destinations. */
export default function Domains({ siteId, onClose }: PanelProps) {
  const domains = useDomains(siteId)
  const { ownsHosts } = useRights(siteId)
  return (
    <Dialog title="Link domains" onClose={onClose} wide>
      <div class="stack">
        <p class="quiet">
          Use your own domain for short links. Point its DNS to this server and verify that you own it. Links work after the verification.
        </p>
        <QueryResult of={domains} rows={4}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState>
                {ownsHosts
                  ? "No link domains yet. A link domain is your own host for short links."
                  : "No link domains yet. An owner or admin of the organization can add one."}
              </EmptyState>
            ) : (
              <ul class="stack">
                {data.map((domain) => (
                  <li key={domain.id}>
                    <DomainEntry siteId={siteId} domain={domain} isOwn={ownsHosts} />
                  </li>
                ))}
              </ul>
            )
          }
        </QueryResult>
        {ownsHosts && <NewDomain siteId={siteId} />}
      </div>
    </Dialog>
  )
}

function NewDomain({ siteId }: { siteId: number }) {
  const [host, setHost] = useState("")
  const refresh = useRefresh(siteId)
  return (
    <Form
      label="Add a domain"
      submit={async () => {
        await post(domainsPath(siteId), { host: host.trim() })
        setHost("")
        await refresh()
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Host"
            value={host}
            onValue={setHost}
            error={errorOf("/host")}
            placeholder="go.example.com"
            code
            autocomplete="off"
          />
          <div class="row">
            <Button type="submit" icon="plus" busy={busy}>
              Add domain
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

function DomainEntry({ siteId, domain, isOwn }: { siteId: number; domain: DomainResponse; isOwn: boolean }) {
  const refresh = useRefresh(siteId)
  const [isRemoving, setRemoving] = useState(false)
  const path = `${domainsPath(siteId)}/${domain.id}`
  return (
    <section class="card stack" aria-label={visible(domain.host)}>
      <h3>
        {visible(domain.host)} <span class="badge">{domain.verified_at === null ? "not verified" : "verified"}</span>
      </h3>
      {domain.verified_at !== null && <p class="small quiet">Verified {timeText(domain.verified_at)}</p>}
      {domain.verified_at === null && domain.txt_record !== null && <Proof domain={domain} />}
      {isOwn && (
        <>
          {domain.verified_at === null && (
            <Form
              label={`Verify ${domain.host}`}
              submit={async () => {
                await post(`${path}/verify`, undefined)
                toast(`${domain.host} verified`)
                await refresh()
              }}
            >
              {({ busy }) => (
                <div class="row">
                  <Button type="submit" busy={busy}>
                    Verify domain
                  </Button>
                </div>
              )}
            </Form>
          )}
          <Destinations siteId={siteId} domain={domain} />
          <div class="row">
            <Button kind="danger" onClick={() => setRemoving(true)}>
              Remove domain
            </Button>
          </div>
        </>
      )}
      {isRemoving && (
        <Confirm
          title={`Remove ${visible(domain.host)}?`}
          act="Remove domain"
          onConfirm={async () => {
            await remove(path)
            await refresh()
          }}
          onClose={() => setRemoving(false)}
        >
          This host stops serving short links. You can only remove a domain without links.
        </Confirm>
      )}
    </section>
  )
}

const Proof = ({ domain: { host, txt_record, file } }: { domain: DomainResponse }) => (
  <div class="stack">
    <p>Add this DNS record, or place the file on the host. DNS changes can take an hour.</p>
    <DescriptionList
      of={[
        ["Type", "TXT"],
        ["Name", <code key="name">{visible(host)}</code>],
        [
          "Value",
          <span class="row" key="value">
            <code>{txt_record}</code>
            <CopyButton text={txt_record ?? ""} label="Copy record" />
          </span>,
        ],
        ...(file === null ? [] : ([["Or a file", <code key="file">{`${file.path} containing ${file.content}`}</code>]] as const)),
      ]}
    />
  </div>
)

/** Destinations for the root of the host and for unknown slugs. */
function Destinations({ siteId, domain }: { siteId: number; domain: DomainResponse }) {
  const refresh = useRefresh(siteId)
  const [root, setRoot] = useState(domain.root_destination ?? "")
  const [missing, setMissing] = useState(domain.not_found_destination ?? "")
  const orNull = (text: string) => (text.trim() === "" ? null : text.trim())
  const wanted = { root_destination: orNull(root), not_found_destination: orNull(missing) }
  const isChanged = wanted.root_destination !== domain.root_destination || wanted.not_found_destination !== domain.not_found_destination
  return (
    <Form
      label={`Destinations of ${domain.host}`}
      submit={async () => {
        await patch(`${domainsPath(siteId)}/${domain.id}`, { ...wanted, version: domain.version })
        toast("Destinations saved")
        await refresh()
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Destination of the root"
            type="url"
            code
            value={root}
            onValue={setRoot}
            error={errorOf("/root_destination")}
            note="Leave empty to show a Not found page."
          />
          <TextField
            label="Destination for unknown slugs"
            type="url"
            code
            value={missing}
            onValue={setMissing}
            error={errorOf("/not_found_destination")}
            note="Leave empty to show a Not found page."
          />
          <div class="row">
            <Button type="submit" busy={busy} disabled={!isChanged}>
              Save destinations
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
