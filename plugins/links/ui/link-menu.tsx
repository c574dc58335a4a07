import { Icon, MenuItem, Popover, patch, post, remove, sentenceOf, toast, visible } from "#plugin/ui"
import { type LinkAnswer, linksPath, useRefresh } from "./answers.ts"

interface LinkMenuProps {
  siteId: number
  link: LinkAnswer
  onEdit(): void
  /** Runs after the link was deleted. */
  onGone?(): void
}

/** Menu with the actions on a link. Each of them can be undone. */
export function LinkMenu({ siteId, link, onEdit, onGone }: LinkMenuProps) {
  const refresh = useRefresh(siteId)
  const path = `${linksPath(siteId)}/${link.id}`
  const name = visible(link.slug)
  const run = (act: () => Promise<unknown>, text: string, undo: () => Promise<unknown>, after?: () => void) =>
    act()
      .then(async () => {
        toast(text, () => void undo().then(refresh).catch(fail))
        after?.()
        await refresh()
      })
      .catch(fail)
  const fail = (error: Error) => toast(sentenceOf(error))
  const archive = (archived: boolean) => patch(path, { archived })
  const isArchived = link.state === "archived"
  const items = [
    { label: "Edit", act: onEdit },
    isArchived
      ? {
          label: "Unarchive",
          act: () =>
            run(
              () => archive(false),
              `${name} unarchived`,
              () => archive(true),
            ),
        }
      : {
          label: "Archive",
          act: () =>
            run(
              () => archive(true),
              `${name} archived`,
              () => archive(false),
            ),
        },
    {
      label: "Delete",
      act: () =>
        run(
          () => remove(path),
          `${name} deleted`,
          () => post(`${path}/restore`, undefined),
          onGone,
        ),
    },
  ]
  return (
    <Popover iconOnly kind="quiet" label={`Actions for ${name}`} button={<Icon name="more" />}>
      {(close) =>
        items.map(({ label, act }) => (
          <MenuItem
            key={label}
            {...(label === "Delete" && { kind: "danger" as const })}
            onSelect={() => {
              close()
              void act()
            }}
          >
            {label}
          </MenuItem>
        ))
      }
    </Popover>
  )
}
