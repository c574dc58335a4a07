import { useMemo, useState } from "preact/hooks"
import { Button, Dialog, SelectField, TextField, useDebouncedValue, useMe, visible } from "#plugin/ui"
import type { Config } from "../../board.ts"
import type { CatalogueRow } from "../../responses.ts"
import { typeTitle } from "../labels.ts"
import { LIMITS } from "../limits.ts"
import { ConfigFields } from "./config-fields.tsx"
import type { DraftWidget } from "./draft.ts"
import { OverrideFields } from "./override-fields.tsx"
import { Preview } from "./preview.tsx"

/** Time without a change after which the preview is asked for. */
const PREVIEW_MS = 400

interface WidgetDrawerProps {
  siteId: number
  boardId: number
  widget: DraftWidget
  /** Type from the catalogue. Undefined for a type that is not known any more. */
  type: CatalogueRow | undefined
  onWidget(widget: DraftWidget): void
  onClose(): void
}

/** Drawer that configures a widget. The board changes when the drawer is applied, as one step that can be undone. */
export function WidgetDrawer({ siteId, boardId, widget, type, onWidget, onClose }: WidgetDrawerProps) {
  const [title, setTitle] = useState(widget.title)
  const [source, setSource] = useState(widget.source_site_id)
  const [config, setConfig] = useState(widget.config)
  const sites = (useMe()?.sites ?? []).filter(({ permissions }) => permissions.includes("site:read"))
  const shownSite = source ?? siteId
  const asked = useDebouncedValue(JSON.stringify([source, config]), PREVIEW_MS)
  const [shownSource, shownConfig] = useMemo(() => JSON.parse(asked) as [typeof source, Config], [asked]) // written above
  const set = (changes: Config) => setConfig(defined({ ...config, ...changes }))
  return (
    <Dialog title={`Configure ${type?.title.toLowerCase() ?? typeTitle(widget.type)}`} onClose={onClose} drawer>
      <form
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          onWidget({ ...widget, title: title.trim(), source_site_id: source, config })
          onClose()
        }}
      >
        {type?.available && (
          <section class="widget-preview" aria-label="Preview" data-type={widget.type}>
            <Preview siteId={siteId} boardId={boardId} widget={{ ...widget, source_site_id: shownSource, config: shownConfig }} />
          </section>
        )}
        <TextField label="Title" value={title} onValue={setTitle} maxLength={LIMITS.titleChars} note="Empty: the name of what is shown." />
        {type ? (
          <ConfigFields siteId={shownSite} schema={type.config_schema} config={config} onChange={set} />
        ) : (
          <p class="notice">This type of widget is not available on this instance. Its configuration is kept.</p>
        )}
        {widget.type !== "text" && type && (
          <details class="stack">
            <summary>Period, filters and site</summary>
            <OverrideFields siteId={shownSite} config={config} onChange={set} />
            {sites.length > 1 && (
              <SelectField
                label="Site"
                value={String(source ?? "")}
                options={[
                  { value: "", label: "Site of the dashboard" },
                  ...sites.filter(({ id }) => id !== siteId).map(({ id, name }) => ({ value: String(id), label: visible(name) })),
                ]}
                onValue={(id) => setSource(id === "" ? null : Number(id))}
              />
            )}
          </details>
        )}
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            Apply
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const defined = (config: Config): Config => Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))
