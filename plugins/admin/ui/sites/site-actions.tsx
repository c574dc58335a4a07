import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, Confirm, Dialog, dayText, Form, MenuItem, Popover, post, remove, TextField, timeText, toast } from "#plugin/ui"
import type { SiteResponse, TransferResponse } from "../../account-responses.ts"
import type { JobResponse, PreviewResponse } from "../../operation-responses.ts"
import { deletedText, OrganizationField, PreviewTable } from "../fields.tsx"
import { useAction } from "../parts.tsx"
import { ADMIN, useRefresh } from "../queries.ts"

/** Actions on a site. A deleted site can only be restored. */
export function SiteActions({ site }: { site: SiteResponse }) {
  const [open, setOpen] = useState<"transfer" | "purge" | "delete">()
  const refresh = useRefresh()
  const [busy, act] = useAction()
  const close = () => setOpen(undefined)
  const path = `${ADMIN}/sites/${site.id}`
  const restore = () => post(`${path}/restore`, undefined).then(() => refresh("sites", "organizations"))
  if (site.deleted_at !== undefined)
    return (
      <Button busy={busy} title={`Deleted ${timeText(site.deleted_at)}`} onClick={() => void act(restore, `${site.name} restored`)}>
        Restore
      </Button>
    )
  return (
    <>
      <Popover button="Actions" label={`Actions for ${site.name}`}>
        {(shut) => {
          const choose = (what: typeof open) => () => {
            shut()
            setOpen(what)
          }
          return (
            <>
              <MenuItem onSelect={choose("transfer")}>Transfer site</MenuItem>
              <MenuItem onSelect={choose("purge")}>Delete old visits</MenuItem>
              <MenuItem kind="danger" onSelect={choose("delete")}>
                Delete
              </MenuItem>
            </>
          )
        }}
      </Popover>
      {open === "transfer" && <TransferSite site={site} onClose={close} />}
      {open === "purge" && <PurgeSite site={site} onClose={close} />}
      {open === "delete" && (
        <Confirm
          title={`Delete ${site.name}`}
          act="Delete site"
          name={site.name}
          onClose={close}
          onConfirm={async () => {
            await remove(path)
            await refresh("sites", "organizations")
            toast(`${site.name} deleted`)
          }}
        >
          <p>Stops tracking and hides the site. You can restore it for 30 days; then all its data is deleted.</p>
        </Confirm>
      )}
    </>
  )
}

/** Dialog that moves a site to another organization and then lists the keys and members that lost access. */
export function TransferSite({ site, onClose }: { site: SiteResponse; onClose(): void }) {
  const [organization, setOrganization] = useState<number>()
  const [moved, setMoved] = useState<TransferResponse>()
  const refresh = useRefresh()
  if (moved) return <MovedShown site={site} moved={moved} onClose={onClose} />
  return (
    <Dialog title={`Transfer ${site.name}`} onClose={onClose} small>
      <Form
        submit={async () => {
          const answer = await post<TransferResponse>(`${ADMIN}/sites/${site.id}/transfer`, { organization_id: organization })
          await refresh("sites", "organizations")
          setMoved(answer)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <p>The site moves with its data. API keys and members of {site.organization.name} lose access to it.</p>
            <OrganizationField
              label="New organization"
              none="Choose"
              value={organization}
              onValue={setOrganization}
              error={errorOf("/organization_id")}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button
                kind="confirm"
                type="submit"
                busy={busy}
                disabled={organization === undefined || organization === site.organization.id}
              >
                Transfer site
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

const MovedShown = ({ site, moved: { detached }, onClose }: { site: SiteResponse; moved: TransferResponse; onClose(): void }) => (
  <Dialog title={`${site.name} was transferred`} onClose={onClose} small>
    <div class="stack">
      <p>
        {detached.api_keys.length + detached.site_members.length === 0
          ? "No API key or member lost access."
          : "These lost access to the site:"}
      </p>
      <ul>
        {detached.api_keys.map(({ id, name }) => (
          <li key={id}>API key {name}</li>
        ))}
        {detached.site_members.map(({ user_id, email, role }) => (
          <li key={user_id}>
            {email}, {role}
          </li>
        ))}
      </ul>
      <div class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  </Dialog>
)

/** Dialog that deletes the visits before a day, after a preview. */
export function PurgeSite({ site, onClose }: { site: SiteResponse; onClose(): void }) {
  const [before, setBefore] = useState("")
  const [counted, setCounted] = useState<{ before: string; preview: PreviewResponse }>()
  const [typed, setTyped] = useState("")
  const refresh = useRefresh()
  const [, navigate] = useLocation()
  const isCounted = counted?.before === before
  const deleted = counted ? deletedText(counted.preview) : ""
  const path = `${ADMIN}/sites/${site.id}/purge`
  return (
    <Dialog title={`Delete old visits of ${site.name}`} onClose={onClose}>
      <Form
        submit={async () => {
          if (!isCounted) return setCounted({ before, preview: await post<PreviewResponse>(path, { before, dry_run: true }) })
          const { id } = await post<JobResponse>(path, { before })
          await refresh("jobs", "sites")
          navigate(`/admin/jobs/${id}`)
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Visits started before"
              type="date"
              value={before}
              onValue={setBefore}
              error={errorOf("/before")}
              note="In the site's time zone."
            />
            {isCounted && counted && <PreviewTable preview={counted.preview} />}
            {isCounted && deleted !== "" && (
              <TextField label={`Type ${site.name} to confirm`} value={typed} onValue={setTyped} autocomplete="off" />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              {isCounted ? (
                <Button kind="confirm" type="submit" busy={busy} disabled={deleted === "" || typed.trim() !== site.name}>
                  Delete {deleted} before {dayText(before)}
                </Button>
              ) : (
                <Button kind="primary" type="submit" busy={busy} disabled={before === ""}>
                  Preview
                </Button>
              )}
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
