import { useState } from "preact/hooks"
import {
  Answer,
  Button,
  Confirm,
  CopyButton,
  Dialog,
  EmptyState,
  Facts,
  Form,
  patch,
  post,
  remove,
  TextField,
  timeText,
  toast,
  visible,
} from "#plugin/ui"
import { type DomainAnswer, sitePath, useDomains, useRefresh, useRights } from "./answers.ts"

export interface PanelProps {
  siteId: number
  onClose(): void
}

/** Hosts of the organization that short links may stand on, and how one proves that a host is one's own. */
export default function Domains({ siteId, onClose }: PanelProps) {
  const domains = useDomains(siteId)
  const { ownsHosts } = useRights(siteId)
  return (
    <Dialog title="Link domains" onClose={onClose} wide>
      <div class="stack">
        <p class="quiet">
          A host of your own for short links. Point its DNS at this server, then prove that it is yours: until then it serves nothing.
        </p>
        <Answer of={domains} rows={4}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState>
                {ownsHosts
                  ? "There is no link domain yet."
                  : "There is no link domain yet. An owner or admin of the organization can add one."}
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
        </Answer>
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
        await post(`${sitePath(siteId)}/link-domains`, { host: host.trim() })
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

function DomainEntry({ siteId, domain, isOwn }: { siteId: number; domain: DomainAnswer; isOwn: boolean }) {
  const refresh = useRefresh(siteId)
  const [isRemoving, setRemoving] = useState(false)
  const path = `${sitePath(siteId)}/link-domains/${domain.id}`
  return (
    <section class="card stack" aria-label={visible(domain.host)}>
      <h3>
        {visible(domain.host)} <span class="badge">{domain.verified_at === null ? "not proved yet" : "proved"}</span>
      </h3>
      {domain.verified_at !== null && <p class="small quiet">Proved on {timeText(domain.verified_at)}</p>}
      {domain.verified_at === null && domain.txt_record !== null && <Proof domain={domain} />}
      {isOwn && (
        <>
          {domain.verified_at === null && (
            <Form
              label={`Prove ${domain.host}`}
              submit={async () => {
                await post(`${path}/verify`, undefined)
                toast(`${domain.host} is proved`)
                await refresh()
              }}
            >
              {({ busy }) => (
                <div class="row">
                  <Button type="submit" busy={busy}>
                    Look for the proof
                  </Button>
                </div>
              )}
            </Form>
          )}
          <Addresses siteId={siteId} domain={domain} />
          <div class="row">
            <Button kind="danger" onClick={() => setRemoving(true)}>
              Give the domain up
            </Button>
          </div>
        </>
      )}
      {isRemoving && (
        <Confirm
          title={`Give ${visible(domain.host)} up`}
          act="Give the domain up"
          onConfirm={async () => {
            await remove(path)
            await refresh()
          }}
          onClose={() => setRemoving(false)}
        >
          Nothing is served at this host any more. It must have no links.
        </Confirm>
      )}
    </section>
  )
}

const Proof = ({ domain: { host, txt_record, file } }: { domain: DomainAnswer }) => (
  <div class="stack">
    <p>Set this record, or put the file on the host. Records may take an hour until they are seen.</p>
    <Facts
      of={[
        ["Kind", "TXT"],
        ["Name", <code key="name">{visible(host)}</code>],
        [
          "Value",
          <span class="row" key="value">
            <code>{txt_record}</code>
            <CopyButton text={txt_record ?? ""} label="Copy record" />
          </span>,
        ],
        ...(file === null ? [] : ([["Or a file", <code key="file">{`${file.path} with ${file.content}`}</code>]] as const)),
      ]}
    />
  </div>
)

/** Where the host leads when no link is named, or none of this name is there. */
function Addresses({ siteId, domain }: { siteId: number; domain: DomainAnswer }) {
  const refresh = useRefresh(siteId)
  const [root, setRoot] = useState(domain.root_destination ?? "")
  const [missing, setMissing] = useState(domain.not_found_destination ?? "")
  const orNull = (text: string) => (text.trim() === "" ? null : text.trim())
  const wanted = { root_destination: orNull(root), not_found_destination: orNull(missing) }
  const isChanged = wanted.root_destination !== domain.root_destination || wanted.not_found_destination !== domain.not_found_destination
  return (
    <Form
      label={`Targets of ${domain.host}`}
      submit={async () => {
        await patch(`${sitePath(siteId)}/link-domains/${domain.id}`, { ...wanted, version: domain.version })
        toast("Targets saved")
        await refresh()
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Target of the host itself"
            type="url"
            code
            value={root}
            onValue={setRoot}
            error={errorOf("/root_destination")}
            note="Empty: a page says that nothing is there."
          />
          <TextField
            label="Target where there is no such link"
            type="url"
            code
            value={missing}
            onValue={setMissing}
            error={errorOf("/not_found_destination")}
            note="Empty: a page says that nothing is there."
          />
          <div class="row">
            <Button type="submit" busy={busy} disabled={!isChanged}>
              Save targets
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
