import { useState } from "preact/hooks"
import {
  ActionMenu,
  Button,
  Checkbox,
  type Column,
  DataTable,
  Dialog,
  EmptyState,
  Form,
  patch,
  post,
  QueryResult,
  remove,
  TextField,
  toast,
  useUndoable,
  visible,
} from "#plugin/ui"
import { UTM_KEYS, type Utm } from "../link.ts"
import type { TemplateResponse } from "../responses.ts"
import { templatesPath, useRefresh, useRights, useTemplates } from "./answers.ts"
import { TAG_LABELS } from "./campaign-fields.tsx"
import type { PanelProps } from "./domains.tsx"

/** Campaign templates of the site: tags to start a link with, so that all users spell them alike. */
export default function Templates({ siteId, onClose }: PanelProps) {
  const templates = useTemplates(siteId)
  const { writes } = useRights(siteId)
  const [editing, setEditing] = useState<{ template?: TemplateResponse }>()
  return (
    <Dialog title="Campaign templates" onClose={onClose} wide>
      {editing ? (
        <TemplateForm key={editing.template?.id ?? 0} siteId={siteId} template={editing.template} onClose={() => setEditing(undefined)} />
      ) : (
        <>
          <QueryResult of={templates} rows={4}>
            {({ data }) =>
              data.length === 0 ? (
                <EmptyState>No templates yet. A template fills in the campaign tags of a link and can make tags required.</EmptyState>
              ) : (
                <DataTable
                  caption="Campaign templates"
                  rows={data}
                  keyOf={({ id }) => id}
                  columns={columnsFor(siteId, writes ? (template) => setEditing({ template }) : undefined)}
                />
              )
            }
          </QueryResult>
          {writes && (
            <div class="row">
              <Button icon="plus" onClick={() => setEditing({})}>
                New template
              </Button>
            </div>
          )}
        </>
      )}
    </Dialog>
  )
}

const columnsFor = (siteId: number, onEdit: ((template: TemplateResponse) => void) | undefined): Column<TemplateResponse>[] => [
  { id: "name", label: "Name", cell: ({ name }) => visible(name) },
  {
    id: "tags",
    label: "Tags",
    cell: ({ fields }) => visible(UTM_KEYS.flatMap((key) => (fields[key] ? [`${key}=${fields[key]}`] : [])).join(" ")),
  },
  {
    id: "required",
    label: "Required",
    cell: ({ required }) => required.map((key) => TAG_LABELS.find((tag) => tag.key === key)!.label).join(", "),
  },
  { id: "sites", label: "Available to", cell: ({ all_sites }) => (all_sites ? "all sites" : "this site") },
  ...(onEdit
    ? [
        {
          id: "actions",
          label: "Actions",
          cell: (template: TemplateResponse) => <TemplateMenu siteId={siteId} template={template} onEdit={() => onEdit(template)} />,
        },
      ]
    : []),
]

/** Menu of a template. Only owners and admins can change a template for all sites of the organization. */
function TemplateMenu({ siteId, template, onEdit }: { siteId: number; template: TemplateResponse; onEdit(): void }) {
  const undoable = useUndoable(useRefresh(siteId))
  const { ownsHosts } = useRights(siteId)
  if (template.all_sites && !ownsHosts) return null
  const path = templatesPath(siteId)
  const { name, fields, required, all_sites } = template
  return (
    <ActionMenu
      kind="quiet"
      label={`Actions for ${visible(name)}`}
      actions={[
        { label: "Edit", run: onEdit },
        {
          label: "Delete",
          kind: "danger",
          run: () =>
            undoable({
              run: () => remove(`${path}/${template.id}`),
              undo: () => post(path, { name, fields, required, all_sites }),
              text: `${visible(name)} deleted`,
            }),
        },
      ]}
    />
  )
}

interface TemplateFormProps {
  siteId: number
  template: TemplateResponse | undefined
  onClose(): void
}

function TemplateForm({ siteId, template, onClose }: TemplateFormProps) {
  const refresh = useRefresh(siteId)
  const { ownsHosts } = useRights(siteId)
  const [name, setName] = useState(template?.name ?? "")
  const [fields, setFields] = useState<Utm>(template?.fields ?? {})
  const [required, setRequired] = useState<readonly (keyof Utm)[]>(template?.required ?? [])
  const [allSites, setAllSites] = useState(false)
  const path = templatesPath(siteId)
  const submit = async () => {
    const body = { name: name.trim(), fields, required }
    if (template) await patch(`${path}/${template.id}`, { ...body, version: template.version })
    else await post(path, { ...body, ...(allSites && { all_sites: true }) })
    await refresh()
    toast(`${name.trim()} saved`)
    onClose()
  }
  return (
    <Form submit={submit} label="Campaign template">
      {({ busy, errorOf }) => (
        <>
          <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} maxLength={100} autofocus />
          {TAG_LABELS.map(({ key, label, example }) => (
            <div class="link-builder link-fields" key={key}>
              <TextField
                label={label}
                value={fields[key] ?? ""}
                onValue={(value) => setFields({ ...fields, [key]: value })}
                error={errorOf(`/fields/${key}`)}
                placeholder={example}
                maxLength={200}
                autocomplete="off"
              />
              <Checkbox
                label={`${label} required`}
                checked={required.includes(key)}
                onChange={(isIn) => setRequired(isIn ? [...required, key] : required.filter((one) => one !== key))}
              />
            </div>
          ))}
          {ownsHosts && !template && <Checkbox label="For all sites of the organization" checked={allSites} onChange={setAllSites} />}
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" busy={busy}>
              Save template
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
