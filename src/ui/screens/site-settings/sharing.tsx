import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { ShareResponse } from "../../../domain/share.ts"
import type { OwnSiteResponse, SiteSettingsResponse } from "../../../domain/site-response.ts"
import { getAll, patch, remove } from "../../api/api.ts"
import { canOnSite, useMe } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { Checkbox } from "../../parts/form/fields.tsx"
import { SectionForm } from "../../parts/form/section-form.tsx"
import { EmptyState, QueryResult } from "../../parts/states.tsx"
import { timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { conditionsText } from "./condition-rows.tsx"
import { sitePath, useRefreshSite } from "./settings.ts"
import { SECTION_LABELS } from "./share-draft.ts"
import { ShareForm } from "./share-form.tsx"

/** Manages the views of a site that anyone with their link can see. */
export function Sharing({ site, settings }: { site: OwnSiteResponse; settings: SiteSettingsResponse }) {
  const path = `${sitePath(site.id)}/shares`
  const client = useQueryClient()
  const me = useMe()
  const policy = me?.organizations.find(({ id }) => id === site.organization.id)?.policy.public_links
  const key = ["shares", site.id]
  const shares = useQuery({ queryKey: key, queryFn: ({ signal }) => getAll<ShareResponse>(`${path}?`, signal) })
  const [edited, setEdited] = useState<{ share: ShareResponse | undefined }>()
  const [removed, setRemoved] = useState<ShareResponse>()
  const refresh = () => client.invalidateQueries({ queryKey: key })
  const refreshSite = useRefreshSite(site.id)
  return (
    <>
      {policy === "off" && (
        <p class="notice" data-kind="warn">
          Sharing is turned off in {visible(site.organization.name)}. An owner or admin can turn it on.
        </p>
      )}
      <section class="card stack" aria-labelledby="shared-views">
        <div class="row spread">
          <h2 id="shared-views">Shared views</h2>
          <Button icon="plus" onClick={() => setEdited({ share: undefined })} disabled={policy === "off"}>
            New shared view
          </Button>
        </div>
        <p class="quiet">Anyone with the link can see it, without an account. Small groups are hidden.</p>
        <QueryResult of={shares} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>No shared views yet. Shared views let people without an account see this site.</EmptyState>
            ) : (
              <ul class="stack">
                {rows.map((share) => (
                  <ShareEntry key={share.id} share={share} onEdit={() => setEdited({ share })} onRemove={() => setRemoved(share)} />
                ))}
              </ul>
            )
          }
        </QueryResult>
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
            <Checkbox
              label="Make this site public"
              note="Creates a shared view with a random link, and revokes it when you turn this off."
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
          title="Revoke this link?"
          act="Revoke link"
          onConfirm={async () => {
            await remove(`${path}/${removed.id}`)
            await refresh()
          }}
          onClose={() => setRemoved(undefined)}
        >
          The link to {visible(removed.name)} stops working. A new shared view gets a different link.
        </Confirm>
      )}
    </>
  )
}

function ShareEntry({ share, onEdit, onRemove }: { share: ShareResponse; onEdit(): void; onRemove(): void }) {
  const { name, url, has_password, expires_at, locked_filters, sections, allow_range, allow_filters, allow_export, embed_origins } = share
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now()
  const facts = [
    share.is_public ? "created by Public site" : "",
    has_password ? "password required" : "",
    expires_at === null ? "" : `${isExpired ? "expired" : "expires"} ${timeText(expires_at)}`,
    allow_range ? "" : "fixed period",
    allow_filters ? "" : "no filters",
    allow_export ? "CSV export" : "",
    locked_filters.length > 0 ? `only ${conditionsText(locked_filters)}` : "",
    sections.length < Object.keys(SECTION_LABELS).length - 1
      ? sections.map((section) => SECTION_LABELS[section] ?? section).join(", ")
      : "",
  ].filter((fact) => fact !== "")
  return (
    <li class="stack share-entry">
      <div class="row spread">
        <h3>{visible(name)}</h3>
        <span class="row">
          <Button onClick={onEdit} aria-label={`Edit ${visible(name)}`}>
            Edit
          </Button>
          {!share.is_public && (
            <Button kind="danger" onClick={onRemove} aria-label={`Revoke the link to ${visible(name)}`}>
              Revoke link
            </Button>
          )}
        </span>
      </div>
      {facts.length > 0 && <p class="small quiet">{facts.join(" · ")}</p>}
      <div class="row">
        <a class="share-address" href={url} target="_blank" rel="noreferrer noopener">
          {url}
        </a>
        <CopyButton text={url} label="Copy link" />
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

const embedCode = ({ url, name }: ShareResponse): string =>
  `<iframe src="${escaped(url)}" title="${escaped(name)}" width="100%" height="1200" loading="lazy" style="border:0"></iframe>`
