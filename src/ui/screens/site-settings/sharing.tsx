import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { patch, remove } from "../../api.ts"
import { timeText } from "../../format.ts"
import { canOnSite, useMe } from "../../me.ts"
import { Answer } from "../../parts/answer.tsx"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Choice } from "../../parts/fields.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { getAll } from "../../stats/get-all.ts"
import { conditionsText } from "./condition-rows.tsx"
import { SectionForm } from "./section-form.tsx"
import { type SettingsShown, sitePath, useRefreshSite, type WholeSite } from "./settings.ts"
import { SECTION_WORDS, type ShareShown } from "./share.ts"
import { ShareForm } from "./share-form.tsx"

/** Views of the site for whoever has their address. */
export function Sharing({ site, settings }: { site: WholeSite; settings: SettingsShown }) {
  const path = `${sitePath(site.id)}/shares`
  const client = useQueryClient()
  const me = useMe()
  const policy = me?.organizations.find(({ id }) => id === site.organization.id)?.policy.public_links
  const key = ["shares", site.id]
  const shares = useQuery({ queryKey: key, queryFn: ({ signal }) => getAll<ShareShown>(`${path}?`, signal) })
  const [edited, setEdited] = useState<{ share: ShareShown | undefined }>()
  const [removed, setRemoved] = useState<ShareShown>()
  const refresh = () => client.invalidateQueries({ queryKey: key })
  const refreshSite = useRefreshSite(site.id)
  return (
    <>
      {policy === "off" && (
        <p class="notice" data-kind="warn">
          Sharing is off in {visible(site.organization.name)}. Its owners and admins can allow it.
        </p>
      )}
      <section class="card stack" aria-labelledby="shared-views">
        <div class="row spread">
          <h2 id="shared-views">Shared views</h2>
          <Button icon="plus" onClick={() => setEdited({ share: undefined })} disabled={policy === "off"}>
            Share a view
          </Button>
        </div>
        <p class="quiet">Whoever has the address sees the view, without an account. Small groups of people are left out.</p>
        <Answer of={shares} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>Nothing of this site is shared.</EmptyState>
            ) : (
              <ul class="stack">
                {rows.map((share) => (
                  <ShareEntry key={share.id} share={share} onEdit={() => setEdited({ share })} onRemove={() => setRemoved(share)} />
                ))}
              </ul>
            )
          }
        </Answer>
      </section>
      {canOnSite(me, site.id, "site:write") && (
        <SectionForm
          title="Public site"
          shown={settings}
          pick={(shown) => ({ public: shown.public })}
          save={(values, version) => patch(`${sitePath(site.id)}/settings`, { ...values, version })}
          refresh={() => Promise.all([refreshSite(), refresh()])}
          words={(values) => [["Public", values.public ? "yes" : "no"]]}
        >
          {({ values, set }) => (
            <Choice
              label="Everybody may see this site"
              note="Makes a shared view with a random address, and takes it away again when it is switched off."
              checked={values.public}
              onChange={(checked) => set({ public: checked })}
            />
          )}
        </SectionForm>
      )}
      {edited && (
        <ShareForm
          path={path}
          share={edited.share}
          needsPassword={policy === "password_required"}
          onDone={refresh}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed && (
        <Confirm
          title="Take the shared view away"
          act="Take it away"
          onConfirm={async () => {
            await remove(`${path}/${removed.id}`)
            await refresh()
          }}
          onClose={() => setRemoved(undefined)}
        >
          The address of {visible(removed.name)} leads nowhere from now on. A new view has another address.
        </Confirm>
      )}
    </>
  )
}

function ShareEntry({ share, onEdit, onRemove }: { share: ShareShown; onEdit(): void; onRemove(): void }) {
  const { name, url, has_password, expires_at, locked_filters, sections, allow_range, allow_filters, allow_export, embed_origins } = share
  const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now()
  const facts = [
    share.is_public ? "made by the switch for a public site" : "",
    has_password ? "with a password" : "",
    expires_at === null ? "" : `${isOver ? "ended" : "ends"} ${timeText(expires_at)}`,
    allow_range ? "" : "fixed period",
    allow_filters ? "" : "fixed filters",
    allow_export ? "CSV" : "",
    locked_filters.length > 0 ? `only ${conditionsText(locked_filters)}` : "",
    sections.length < Object.keys(SECTION_WORDS).length - 1 ? sections.map((section) => SECTION_WORDS[section] ?? section).join(", ") : "",
  ].filter((fact) => fact !== "")
  return (
    <li class="stack share-entry">
      <div class="row spread">
        <h3>{visible(name)}</h3>
        <span class="row">
          <Button onClick={onEdit} aria-label={`Change ${visible(name)}`}>
            Change
          </Button>
          {!share.is_public && (
            <Button kind="danger" onClick={onRemove} aria-label={`Take away ${visible(name)}`}>
              Take away
            </Button>
          )}
        </span>
      </div>
      {facts.length > 0 && <p class="small quiet">{facts.join(" · ")}</p>}
      <div class="row">
        <a class="share-address" href={url} target="_blank" rel="noreferrer noopener">
          {url}
        </a>
        <CopyButton text={url} label="Copy address" />
      </div>
      {embed_origins.length > 0 && (
        <div class="row">
          <code class="share-address">{embedCode(share)}</code>
          <CopyButton text={embedCode(share)} label="Copy embed code" />
        </div>
      )}
    </li>
  )
}

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;")

const embedCode = ({ url, name }: ShareShown): string =>
  `<iframe src="${escaped(url)}" title="${escaped(name)}" width="100%" height="1200" loading="lazy" style="border:0"></iframe>`
