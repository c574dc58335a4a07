import { useState } from "preact/hooks"
import { ButtonLink, ErrorState, put, toast } from "#plugin/ui"
import type { BoardResponse } from "../../responses.ts"
import { TEMPLATES } from "../../templates.ts"
import { boardPath, editAddress, useRefresh } from "../answers.ts"
import { type TemplateName, Templates } from "../sketch/templates.tsx"

/** Content of a dashboard without widgets: three templates, and the way to choose widgets. */
export function EmptyBoard({ siteId, board }: { siteId: number; board: BoardResponse }) {
  const [error, setError] = useState<Error>()
  const refresh = useRefresh(siteId)
  if (!board.can_edit) return <p class="quiet">This dashboard has no widgets yet.</p>
  const fill = async (name: TemplateName) => {
    const { description, visibility, range, filters, refresh_s, version } = board
    const widgets = TEMPLATES[name].map(({ source_site_name: _, ...widget }) => widget)
    try {
      await put(boardPath(siteId, board.id), { name: board.name, description, visibility, range, filters, refresh_s, version, widgets })
      toast("Template added")
      await refresh()
    } catch (error) {
      setError(error as Error) // only errors are thrown
    }
  }
  return (
    <section class="stack" aria-label="Templates">
      <p class="quiet">This dashboard has no widgets yet. Start with a template, or choose widgets one by one.</p>
      {error && <ErrorState error={error} />}
      <Templates onChoose={(name) => void fill(name)} />
      <div>
        <ButtonLink icon="plus" href={`${editAddress(siteId, board.id)}?add`}>
          Add widgets
        </ButtonLink>
      </div>
    </section>
  )
}
