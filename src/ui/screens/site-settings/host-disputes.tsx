import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { PrivatePage } from "../../../domain/response.ts"
import type { HostDisputeResponse, HostProofResponse } from "../../../domain/site-response.ts"
import { get, post, remove } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { Form } from "../../parts/form/form.tsx"
import { toast } from "../../parts/toasts.tsx"
import { DescriptionList } from "../../parts/values.tsx"
import { timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { sitePath, useRefreshSite } from "./settings.ts"

const proofsPath = (siteId: number): string => `${sitePath(siteId)}/settings/host-proofs`

/** Hosts that sites of other organizations claim as well, and the DNS records that prove them. Shows nothing without a dispute. */
export function HostDisputes({ siteId, disputes }: { siteId: number; disputes: readonly HostDisputeResponse[] }) {
  const proofs = useQuery({
    queryKey: ["site", siteId, "host-proofs"],
    queryFn: ({ signal }) => get<PrivatePage<HostProofResponse>>(`${proofsPath(siteId)}?limit=200`, signal),
    enabled: disputes.length > 0,
  })
  if (disputes.length === 0) return null
  return (
    <section class="card stack" aria-labelledby="host-disputes">
      <h2 id="host-disputes">Disputed hosts</h2>
      <p class="quiet">
        Sites of other organizations claim these hosts too. Events with this site's tracking ID are always counted here. Events that name
        only the host are counted for its owner.
      </p>
      {disputes.map((dispute) => (
        <div class="stack" key={dispute.host}>
          <h3>
            {visible(dispute.host)} <span class="badge">{OWNERS[dispute.belongs_to ?? "no_owner"]}</span>
          </h3>
          <p>{explanationOf(dispute)}</p>
        </div>
      ))}
      {provableHosts(disputes).map(({ host, isOpen }) => {
        const proof = proofs.data?.data.find((one) => one.host === host)
        if (proof) return <Proof key={host} siteId={siteId} proof={proof} />
        return isOpen && <NewProof key={host} siteId={siteId} host={host} />
      })}
    </section>
  )
}

const OWNERS = { this_organization: "Yours", another_organization: "Another organization's", no_owner: "No owner" } as const

function explanationOf({ belongs_to, reason, provable_host }: HostDisputeResponse): string {
  if (belongs_to === null)
    return provable_host === null
      ? "Events that name only this host are dropped. It can't be verified by DNS, but an instance admin can decide who owns it."
      : "Events that name only this host are dropped, because its owner isn't known. If it's yours, verify it with a DNS record."
  const isOwn = belongs_to === "this_organization"
  const owner = isOwn ? "your organization" : "another organization"
  const whose = isOwn ? "Your organization" : "Another organization"
  if (reason === "decided") return `An instance admin decided that this host belongs to ${owner}.`
  if (reason === "proved") return `${whose} verified this host with a DNS record.`
  return `${whose} listed this host first and has events from it. ${
    isOwn ? "Verify it with a DNS record to keep it." : "If it's yours, verify it with a DNS record."
  }`
}

/** Returns each host that can be proved once. `isOpen` while a proof would change its owner or secure it. */
function provableHosts(disputes: readonly HostDisputeResponse[]): { host: string; isOpen: boolean }[] {
  const byHost = Map.groupBy(disputes, ({ provable_host }) => provable_host)
  // A proof can't override the decision of an instance admin.
  const isOpen = ({ belongs_to, reason }: HostDisputeResponse) =>
    reason !== "decided" && !(reason === "proved" && belongs_to === "this_organization")
  return [...byHost].flatMap(([host, own]) => (host === null ? [] : [{ host, isOpen: own.some(isOpen) }]))
}

function NewProof({ siteId, host }: { siteId: number; host: string }) {
  const refresh = useRefreshSite(siteId)
  return (
    <Form label={`Verify ${host}`} submit={() => post(proofsPath(siteId), { host }).then(refresh)}>
      {({ busy }) => (
        <div class="row">
          <Button type="submit" busy={busy}>
            Verify {visible(host)}
          </Button>
        </div>
      )}
    </Form>
  )
}

/** Shows the DNS record to add and checks whether it exists. */
function Proof({ siteId, proof }: { siteId: number; proof: HostProofResponse }) {
  const refresh = useRefreshSite(siteId)
  const [isRemoving, setRemoving] = useState(false)
  const { host } = proof
  const path = `${proofsPath(siteId)}/${proof.id}`
  return (
    <>
      {proof.verified_at === null ? (
        <Form
          label={`Verify ${host}`}
          submit={async () => {
            await post(`${path}/verify`, undefined)
            await refresh()
            toast(`${visible(host)} verified`)
          }}
        >
          {({ busy }) => (
            <>
              <p>
                To verify {visible(host)}, add this record to its DNS, then check it. A new record can take up to an hour to become visible.
              </p>
              <DescriptionList
                of={[
                  ["Type", "TXT"],
                  ["Name", <code key="name">{visible(proof.record.name)}</code>],
                  ["Value", <Value key="value" text={proof.record.value} />],
                ]}
              />
              <div class="row">
                <Button type="submit" kind="primary" busy={busy}>
                  Check record
                </Button>
                <Button onClick={() => setRemoving(true)}>Delete verification</Button>
              </div>
            </>
          )}
        </Form>
      ) : (
        <div class="row">
          <span class="small quiet">
            {visible(host)} was verified on {timeText(proof.verified_at)}
          </span>
          <Button onClick={() => setRemoving(true)}>Delete verification</Button>
        </div>
      )}
      {isRemoving && (
        <Confirm
          title={`Delete the verification of ${visible(host)}?`}
          act="Delete verification"
          onConfirm={async () => {
            await remove(path)
            await refresh()
          }}
          onClose={() => setRemoving(false)}
        >
          <p>Another organization can then become the owner of this host. To verify it again, you need a new DNS record.</p>
        </Confirm>
      )}
    </>
  )
}

const Value = ({ text }: { text: string }) => (
  <span class="row">
    <code>{text}</code>
    <CopyButton text={text} label="Copy record" />
  </span>
)
