import { useState } from "preact/hooks"
import { Button, Dialog, Form, post, SelectField, TextField, toast, visible } from "#plugin/ui"
import type { BoardResponse } from "../../responses.ts"
import { boardsPath, useRefresh } from "../answers.ts"
import { TEMPLATE_TEXTS, type TemplateName, Templates } from "../sketch/templates.tsx"
import { VISIBILITIES } from "../visibilities.ts"

interface NewBoardProps {
  siteId: number
  /** Whether the user may create dashboards for everyone on the site. */
  writes: boolean
  template?: TemplateName
  onCreated(board: BoardResponse): void
  onClose(): void
}

/** Dialog that creates a dashboard, from a template or empty. */
export function NewBoard({ siteId, writes, template: first, onCreated, onClose }: NewBoardProps) {
  const [name, setName] = useState("")
  const [visibility, setVisibility] = useState("private")
  const [template, setTemplate] = useState<TemplateName | undefined>(first)
  const refresh = useRefresh(siteId)
  const wanted = name.trim() || (template ? TEMPLATE_TEXTS[template].name : "")
  const create = async () => {
    const board = await post<BoardResponse>(boardsPath(siteId), { name: wanted, visibility, ...(template && { template }) })
    await refresh()
    toast(`${visible(board.name)} created`)
    onClose()
    onCreated(board)
  }
  return (
    <Dialog title="New dashboard" onClose={onClose} wide>
      <Form submit={create} label="New dashboard">
        {({ busy, errorOf }) => (
          <>
            <div class="pair">
              <TextField
                label="Name"
                value={name}
                onValue={setName}
                maxLength={100}
                {...(template && { placeholder: TEMPLATE_TEXTS[template].name })}
                error={errorOf("/name")}
                autofocus
              />
              {writes && <SelectField label="Visible to" value={visibility} options={VISIBILITIES} onValue={setVisibility} />}
            </div>
            <fieldset class="stack plain-fieldset">
              <legend class="small quiet">Template</legend>
              <Templates chosen={template} onChoose={(one) => setTemplate(template === one ? undefined : one)} />
              <p class="small quiet">
                {template ? "Choose the template again to start empty." : "Without a template, the dashboard is empty."}
              </p>
            </fieldset>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Create dashboard
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
