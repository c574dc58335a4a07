import { useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { post, remove } from "../../api.ts"
import { canOnSite, useMe, useRefreshMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { sentenceOf } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { Erase } from "./erase.tsx"
import { sitePath, useRefreshSite, type WholeSite } from "./settings.ts"
import { Takeout } from "./takeout.tsx"
import { useWork, WorkState } from "./work.tsx"

/** What cannot simply be taken back, the least of it first. */
export function Danger({ site }: { site: WholeSite }) {
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

function Transfer({ site, targets }: { site: WholeSite; targets: readonly { id: number; name: string }[] }) {
  const [target, setTarget] = useState(String(targets[0]!.id))
  const [isAsked, setAsked] = useState(false)
  const refreshMe = useRefreshMe()
  const refreshSite = useRefreshSite(site.id)
  const name = visible(targets.find(({ id }) => String(id) === target)?.name ?? "")
  return (
    <section class="card stack" aria-labelledby="transfer">
      <h2 id="transfer">Transfer</h2>
      <p class="quiet">Gives the site with all its data to another organization that you own. Keys and members of this one lose it.</p>
      <Form submit={async () => setAsked(true)} label="Transfer">
        {() => (
          <>
            <SelectField
              label="To"
              value={target}
              onValue={setTarget}
              options={targets.map((one) => ({ value: String(one.id), label: visible(one.name) }))}
            />
            <div>
              <Button type="submit" kind="danger">
                Transfer the site
              </Button>
            </div>
          </>
        )}
      </Form>
      {isAsked && (
        <Confirm
          title={`Transfer to ${name}`}
          act="Transfer the site"
          name={site.name}
          onConfirm={async () => {
            await post(`${sitePath(site.id)}/transfer`, { organization_id: Number(target) })
            await Promise.all([refreshMe(), refreshSite()])
            toast(`The site belongs to ${name}`)
          }}
          onClose={() => setAsked(false)}
        >
          Keys and members of {visible(site.organization.name)} lose the site at once.
        </Confirm>
      )}
    </section>
  )
}

function Reset({ site }: { site: WholeSite }) {
  const [isAsked, setAsked] = useState(false)
  const { work, follow } = useWork(`${sitePath(site.id)}/erase`)
  return (
    <section class="card stack" aria-labelledby="reset">
      <h2 id="reset">Reset figures</h2>
      <p class="quiet">Removes all events and imports. Settings, goals and funnels stay.</p>
      <div>
        <Button kind="danger" onClick={() => setAsked(true)}>
          Reset all figures
        </Button>
      </div>
      <WorkState work={work} done="All figures are gone." />
      {isAsked && (
        <Confirm
          title="Reset figures"
          act="Remove all events"
          name={site.name}
          onConfirm={async () => follow(await post(`${sitePath(site.id)}/reset`, { confirm: site.name }))}
          onClose={() => setAsked(false)}
        >
          All events and imports of {visible(site.name)} are removed. Nobody can bring them back.
        </Confirm>
      )}
    </section>
  )
}

function Delete({ site }: { site: WholeSite }) {
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
      toast(sentenceOf(error as Error))
    }
  }
  return (
    <section class="card stack" aria-labelledby="delete">
      <h2 id="delete">Delete the site</h2>
      <p class="quiet">
        Its pages are counted no longer, and nobody sees it. It can be brought back for 30 days; then its data is removed.
      </p>
      <div>
        <Button kind="danger" onClick={() => setAsked(true)}>
          Delete the site
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title={`Delete ${visible(site.name)}`}
          act="Delete the site"
          name={site.hosts[0] ?? site.name}
          onConfirm={async () => {
            await remove(sitePath(site.id))
            navigate("/sites")
            await refresh()
            toast(`${visible(site.name)} is deleted`, () => void restore())
          }}
          onClose={() => setAsked(false)}
        >
          From now on its events are refused. It can be brought back for 30 days.
        </Confirm>
      )}
    </section>
  )
}
