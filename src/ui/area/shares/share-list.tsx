import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import type { PublicLinks, SharedTerms } from "../../../domain/share.ts"
import { getAll, remove } from "../../api/api.ts"
import { useMe, useSite } from "../../api/session.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy.tsx"
import { EmptyState, QueryResult } from "../../parts/states.tsx"
import { embedSnippet } from "../../screens/share/embedding.ts"
import { visible } from "../../text/safe-text.tsx"
import { factsOf } from "./share-draft.ts"
import { type OwnFields, ShareForm } from "./share-form.tsx"

interface ShareListProps<Share extends SharedTerms, Own extends object> {
  siteId: number
  /** What a share is called, such as `shared view`. */
  noun: string
  /** API path of the shares. */
  path: string
  /** Text of the list without any shares. */
  empty: string
  own: OwnFields<Own>
  /** Heading of the list. */
  heading: ComponentChildren
  /** Returns what else is special about a share. */
  facts(share: Share): string[]
  /** Further content of the entry of a share. */
  more?(share: Share): ComponentChildren
  /** Whether a share is revoked by other means. */
  isFixed?(share: Share): boolean
}

/** The shares of a site or dashboard, and the dialogs that create, edit and revoke them. */
export function ShareList<Share extends SharedTerms, Own extends object>(props: ShareListProps<Share, Own>) {
  const { siteId, noun, path, empty, own, heading, facts, more, isFixed } = props
  const client = useQueryClient()
  const policy = useLinkPolicy(siteId)
  const { queryKey, shares } = useShares<Share>(path)
  const [edited, setEdited] = useState<{ share: Share | undefined }>()
  const [removed, setRemoved] = useState<Share>()
  const refresh = () => client.invalidateQueries({ queryKey })
  return (
    <>
      {policy.links === "off" && (
        <p class="notice" data-kind="warn">
          Sharing is turned off in {visible(policy.organization)}. An owner or admin can turn it on.
        </p>
      )}
      <div class="row spread">
        {heading}
        <Button icon="plus" onClick={() => setEdited({ share: undefined })} disabled={policy.links === "off"}>
          New {noun}
        </Button>
      </div>
      <p class="quiet">Anyone with the link can see it, without an account. Small groups are hidden.</p>
      <QueryResult of={shares} rows={3}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState>{empty}</EmptyState>
          ) : (
            <ul class="stack">
              {rows.map((share) => (
                <ShareEntry
                  key={share.id}
                  share={share}
                  facts={[...factsOf(share), ...facts(share)]}
                  more={more?.(share)}
                  onEdit={() => setEdited({ share })}
                  onRemove={isFixed?.(share) ? undefined : () => setRemoved(share)}
                />
              ))}
            </ul>
          )
        }
      </QueryResult>
      {edited && (
        <ShareForm
          noun={noun}
          path={path}
          share={edited.share}
          own={own}
          needsPassword={policy.links === "password_required"}
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
          The link to {visible(removed.name)} stops working. A new {noun} gets a different link.
        </Confirm>
      )}
    </>
  )
}

function useShares<Share>(path: string): { queryKey: string[]; shares: UseQueryResult<Share[], Error> } {
  const queryKey = ["shares", path]
  return { queryKey, shares: useQuery({ queryKey, queryFn: ({ signal }) => getAll<Share>(`${path}?`, signal) }) }
}

/** Returns the policy of a site's organization for public links. */
function useLinkPolicy(siteId: number): { links: PublicLinks | undefined; organization: string } {
  const { data: site } = useSite(siteId)
  const organization = useMe()?.organizations.find(({ id }) => id === site?.organization.id)
  return { links: organization?.policy.public_links, organization: organization?.name ?? "" }
}

interface ShareEntryProps {
  share: SharedTerms
  facts: readonly string[]
  more: ComponentChildren
  onEdit(): void
  onRemove: (() => void) | undefined
}

function ShareEntry({ share: { name, url, embed_origins }, facts, more, onEdit, onRemove }: ShareEntryProps) {
  return (
    <li class="stack share-entry">
      <div class="row spread">
        <h3>{visible(name)}</h3>
        <span class="row">
          <Button onClick={onEdit} aria-label={`Edit ${visible(name)}`}>
            Edit
          </Button>
          {onRemove && (
            <Button kind="danger" onClick={onRemove} aria-label={`Revoke link to ${visible(name)}`}>
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
          <code class="share-address">{embedSnippet(url, name)}</code>
          <CopyButton text={embedSnippet(url, name)} label="Copy embed code" />
        </div>
      )}
      {more}
    </li>
  )
}
