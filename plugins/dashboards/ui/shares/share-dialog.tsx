import { Suspense } from "preact/compat"
import { Checkbox, Dialog, exact, type OwnFields, SelectField, ShareList, Skeleton, TextField, timeText, useMe, visible } from "#plugin/ui"
import type { BoardRow } from "../../responses.ts"
import type { ShareResponse, Theme } from "../../shares/share.ts"
import { boardPath } from "../answers.ts"
import { SharePreview } from "./share-preview.tsx"

interface ShareDialogProps {
  siteId: number
  board: Pick<BoardRow, "id" | "name">
  onClose(): void
}

/** The public links of a dashboard. */
export default function ShareDialog({ siteId, board, onClose }: ShareDialogProps) {
  const own = useOwnFields(siteId)
  return (
    <Dialog title={`Share ${visible(board.name)}`} onClose={onClose} wide>
      <Suspense fallback={<Skeleton rows={4} />}>
        <div class="stack">
          <ShareList<ShareResponse, BoardFields>
            siteId={siteId}
            noun="public link"
            path={`${boardPath(siteId, board.id)}/shares`}
            empty="No public links yet. Public links let people without an account see this dashboard."
            own={own}
            more={({ slug }) => <SharePreview slug={slug} />}
            heading={<h3>Public links</h3>}
            facts={({ site_ids, views, last_viewed_at }) => [
              ...(site_ids.length > 0 ? [`${site_ids.length + 1} sites`] : []),
              last_viewed_at === null
                ? "not viewed yet"
                : `${exact(views)} ${views === 1 ? "view" : "views"}, last ${timeText(last_viewed_at)}`,
            ]}
          />
        </div>
      </Suspense>
    </Dialog>
  )
}

interface BoardFields {
  site_ids: readonly number[]
  theme: Theme
  /** null for the minimum of the site. */
  min_group: number | null
}

const THEMES = [
  { value: "auto", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const

const themeText = (theme: Theme): string => THEMES.find(({ value }) => value === theme)?.label ?? theme

/** The fields that only shares of dashboards have. */
function useOwnFields(siteId: number): OwnFields<BoardFields> {
  const sites = useMe()?.sites.filter(({ id }) => id !== siteId) ?? []
  const nameOf = (id: number) => visible(sites.find((one) => one.id === id)?.name ?? "another site")
  return {
    of(share) {
      const { site_ids = [], theme = "auto", min_group = null } = (share ?? {}) as Partial<ShareResponse> // the API of these shares
      return { site_ids, theme, min_group }
    },
    // The API answers the group that applies, which would become the share's own.
    sent: ({ min_group, ...own }, before) => ({ ...own, ...(min_group !== before.min_group && { min_group }) }),
    textOf: ({ site_ids, theme, min_group }) => [
      ["Further sites", site_ids.map(nameOf).join(", ")],
      ["Theme", themeText(theme)],
      ["Smallest group", min_group === null ? "as in the settings of the site" : String(min_group)],
    ],
    fields: ({ site_ids, theme, min_group }, set, errorOf) => (
      <>
        {sites.length > 0 && (
          <fieldset class="switches">
            <legend>Further sites</legend>
            <p class="field-note">Viewers can choose one of these sites instead. You need access to each of them.</p>
            {site_ids
              .map((_, index) => errorOf(`/site_ids/${index}`))
              .filter(Boolean)
              .slice(0, 1)
              .map((text) => (
                <span class="field-error" key={text}>
                  {text}
                </span>
              ))}
            {sites.map(({ id }) => (
              <Checkbox
                key={id}
                label={nameOf(id)}
                checked={site_ids.includes(id)}
                onChange={(checked) => set({ site_ids: checked ? [...site_ids, id] : site_ids.filter((one) => one !== id) })}
              />
            ))}
          </fieldset>
        )}
        <div class="pair">
          <SelectField label="Theme" value={theme} onValue={(value) => set({ theme: value as Theme })} options={THEMES} />
          <TextField
            label="Smallest group of visitors"
            type="number"
            min={1}
            max={100}
            note="Smaller groups are hidden. Leave empty for the site's setting."
            value={min_group === null ? "" : String(min_group)}
            onValue={(text) => set({ min_group: text === "" ? null : Number(text) })}
            error={errorOf("/min_group")}
          />
        </div>
      </>
    ),
  }
}
