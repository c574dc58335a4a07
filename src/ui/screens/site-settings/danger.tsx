import { useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import type { OwnSiteResponse } from "../../../domain/site-response.ts"
import { post, remove } from "../../api/api.ts"
import { canOnSite, useMe, useRefreshMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { SelectField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { errorText } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { visible } from "../../text/safe-text.tsx"
import { Erase } from "./erase.tsx"
import { sitePath, useRefreshSite } from "./settings.ts"
import { JobState, Takeout, useJob } from "./site-export.tsx"

/** Renders actions that are hard or impossible to undo, least destructive first. */
export function Danger({ site }: { site: OwnSiteResponse }) {
  const me = useMe()
  const can = (permission: string) => canOnSite(me, site.id, permission)
  const targets =
    me?.organizations.filter(({ id, role }) => role === "owner" && id !== site.organization.id).map(({ id, name }) => ({ id, name })) ?? []
  const isOwner = me?.organizations.find(({ id }) => id === site.organization.id)?.role === "owner"
  return (
    <>
      {can("people:read") && can("export:read") && can("revenue:read") && <Takeout siteId={site.id} />}
      {isOwner && targets.length > 0 && <Transfer site={site} targets={targets} />}
      <Erase siteId={site.id} />
      <Reset site={site} />
      <Delete site={site} />
    </>
  )
}

function Transfer({ site, targets }: { site: OwnSiteResponse; targets: readonly { id: number; name: string }[] }) {
  const [target, setTarget] = useState(String(targets[0]!.id))
  const [isAsked, setAsked] = useState(false)
  const refreshMe = useRefreshMe()
  const refreshSite = useRefreshSite(site.id)
  const name = visible(targets.find(({ id }) => String(id) === target)?.name ?? "")
  return (
    <section class="card stack" aria-labelledby="transfer">
      <h2 id="transfer">Transfer site</h2>
      <p class="quiet">
        Moves the site and all its data to another organization you own. API keys and members of the current organization lose access.
      </p>
      <Form submit={async () => setAsked(true)} label="Transfer site">
        {() => (
          <>
            <SelectField
              label="New organization"
              value={target}
              onValue={setTarget}
              options={targets.map((one) => ({ value: String(one.id), label: visible(one.name) }))}
            />
            <div>
              <Button type="submit" kind="danger">
                Transfer site
              </Button>
            </div>
          </>
        )}
      </Form>
      {isAsked && (
        <Confirm
          title={`Transfer to ${name}?`}
          act="Transfer site"
          name={site.name}
          onConfirm={async () => {
            await post(`${sitePath(site.id)}/transfer`, { organization_id: Number(target) })
            await Promise.all([refreshMe(), refreshSite()])
            toast(`Site transferred to ${name}`)
          }}
          onClose={() => setAsked(false)}
        >
          API keys and members of {visible(site.organization.name)} lose access immediately.
        </Confirm>
      )}
    </section>
  )
}

function Reset({ site }: { site: OwnSiteResponse }) {
  const [isAsked, setAsked] = useState(false)
  const { work, follow } = useJob(`${sitePath(site.id)}/erase`)
  return (
    <section class="card stack" aria-labelledby="reset">
      <h2 id="reset">Reset statistics</h2>
      <p class="quiet">Deletes all events and imports. Settings, goals and funnels are kept.</p>
      <div>
        <Button kind="danger" onClick={() => setAsked(true)}>
          Reset statistics
        </Button>
      </div>
      <JobState work={work} done="All events and imports were deleted." />
      {isAsked && (
        <Confirm
          title="Reset statistics?"
          act="Delete all events"
          name={site.name}
          onConfirm={async () => follow(await post(`${sitePath(site.id)}/reset`, { confirm: site.name }))}
          onClose={() => setAsked(false)}
        >
          All events and imports of {visible(site.name)} will be deleted. This can't be undone.
        </Confirm>
      )}
    </section>
  )
}

function Delete({ site }: { site: OwnSiteResponse }) {
  const [isAsked, setAsked] = useState(false)
  const [, navigate] = useLocation()
  const refreshMe = useRefreshMe()
  const client = useQueryClient()
  const refresh = () => Promise.all([refreshMe(), client.invalidateQueries({ queryKey: ["sites"] })])
  const restore = async () => {
    try {
      await post(`${sitePath(site.id)}/restore`, {})
      await refresh()
    } catch (error) {
      toast(errorText(error as Error))
    }
  }
  return (
    <section class="card stack" aria-labelledby="delete">
      <h2 id="delete">Delete site</h2>
      <p class="quiet">Stops tracking and hides the site. You can restore it for 30 days.</p>
      <div>
        <Button kind="danger" onClick={() => setAsked(true)}>
          Delete site
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title={`Delete ${visible(site.name)}?`}
          act="Delete site"
          name={site.hosts[0] ?? site.name}
          onConfirm={async () => {
            await remove(sitePath(site.id))
            navigate("/sites")
            await refresh()
            toast(`${visible(site.name)} deleted`, () => void restore())
          }}
          onClose={() => setAsked(false)}
        >
          New events will be rejected. You can restore the site for 30 days; then its data is deleted.
        </Confirm>
      )}
    </section>
  )
}
