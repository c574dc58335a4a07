/** What the list, the page, the menu and the editor of an area's items share. */
import type { ComponentChildren } from "preact"
import { patch, post, remove } from "../api/api.ts"
import { areaQueries } from "../api/plugin-requests.ts"
import { Icon } from "../parts/icon.tsx"
import { MenuItem, Popover } from "../parts/menu.tsx"
import { errorText } from "../parts/states.tsx"
import { toast } from "../parts/toasts.tsx"
import { visible } from "../text/safe-text.tsx"

export interface AreaItem {
  id: number
  version: number
}

export interface AreaPath {
  /** Last path segment of the list, in the dashboard and in the API. Also the start of the cache keys, as in `areaQueries`. */
  path: string
}

/**
 * The items that users manage in an area, such as short links. The API has the usual routes for them: `POST` on the list, `GET`, `PATCH`
 * with `version` and `archived`, and `DELETE` on an item, and `POST …/restore`.
 */
export interface AreaItems<Item extends AreaItem> extends AreaPath {
  /** Lower-case words for an item and for several, such as `link` and `links`. The path of an item's page ends with `/:<noun>`. */
  noun: string
  plural: string
  /** Permission that changes require. */
  permission: string
  nameOf(item: Item): string
  /** Absent for items that can't be archived. */
  isArchived?(item: Item): boolean
}

/** Returns the path of a list in the API. */
export const itemsPath = (siteId: number, { path }: AreaPath): string => `/api/private/sites/${siteId}/${path}`

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** Properties of the dialog that creates or edits an item. */
export interface EditorProps<Item> {
  siteId: number
  /** Item to edit. Undefined creates a new one. */
  item?: Item
  onSaved?(item: AreaItem): void
  onClose(): void
}

interface ActionMenuProps {
  /** Accessible name of the button. */
  label: string
  kind?: "quiet"
  actions: readonly { label: string; kind?: "danger"; run(): unknown }[]
}

/** A button with three dots and a menu of actions. */
export const ActionMenu = ({ label, kind, actions }: ActionMenuProps) => (
  <Popover iconOnly {...(kind && { kind })} label={label} button={<Icon name="more" />}>
    {(close) =>
      actions.map((action) => (
        <MenuItem
          key={action.label}
          {...(action.kind && { kind: action.kind })}
          onSelect={() => {
            close()
            action.run()
          }}
        >
          {action.label}
        </MenuItem>
      ))
    }
  </Popover>
)

interface Undoable {
  run(): Promise<unknown>
  undo(): Promise<unknown>
  /** Message that offers to undo the action. */
  text: string
  /** Runs before the queries are refetched, so that a page can leave an item that no longer exists. */
  after?: (() => void) | undefined
}

/** Returns a function that runs an action without confirmation, because the message about it offers to undo it. */
export function useUndoable(refresh: () => Promise<unknown>): (action: Undoable) => Promise<void> {
  const fail = (error: unknown) => toast(errorText(error as Error)) // only errors are thrown
  return async ({ run, undo, text, after }) => {
    try {
      await run()
      toast(text, () => void undo().then(refresh).catch(fail))
      after?.()
      await refresh()
    } catch (error) {
      fail(error)
    }
  }
}

interface ItemMenuProps<Item extends AreaItem> {
  of: AreaItems<Item>
  siteId: number
  item: Item
  onEdit(): void
  onDeleted?(): void
}

/** Menu that edits, archives or deletes an item. */
export function ItemMenu<Item extends AreaItem>({ of, siteId, item, onEdit, onDeleted }: ItemMenuProps<Item>) {
  const undoable = useUndoable(areaQueries(of.path).useRefresh(siteId))
  const path = `${itemsPath(siteId, of)}/${item.id}`
  const name = visible(of.nameOf(item))
  const isArchived = of.isArchived?.(item)
  const archive = (archived: boolean) => patch(path, { archived })
  return (
    <ActionMenu
      kind="quiet"
      label={`Actions for ${name}`}
      actions={[
        { label: "Edit", run: onEdit },
        ...(isArchived === undefined
          ? []
          : [
              {
                label: isArchived ? "Unarchive" : "Archive",
                run: () =>
                  undoable({
                    run: () => archive(!isArchived),
                    undo: () => archive(isArchived),
                    text: `${name} ${isArchived ? "unarchived" : "archived"}`,
                  }),
              },
            ]),
        {
          label: "Delete",
          kind: "danger",
          run: () =>
            undoable({
              run: () => remove(path),
              undo: () => post(`${path}/restore`, undefined),
              text: `${name} deleted`,
              after: onDeleted,
            }),
        },
      ]}
    />
  )
}

/** Short labels behind a name, such as *archived*. */
export const Badges = ({ of }: { of: readonly ComponentChildren[] }) => (
  <>
    {of.map((badge) => (
      <>
        {" "}
        <span class="badge">{badge}</span>
      </>
    ))}
  </>
)
