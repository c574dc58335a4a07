import { Button, post, sentenceOf, timeText, toast, visible } from "#plugin/ui"
import { useAdmin, useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"

interface Notice {
  id: number
  kind: string
  title: string
  remedy: string
  detail: Record<string, string | number | null>
  first_at: string
  last_at: string
}

/** What went wrong while nobody looked, until it is over or somebody has seen it. */
export function Notices() {
  const { data } = useAdmin<{ data: Notice[] }>("notices")
  const refresh = useRefresh()
  if (!data || data.data.length === 0) return null
  const dismiss = async ({ id }: Notice) => {
    try {
      await post(`${ADMIN}/notices/${id}/dismiss`, undefined)
      await refresh("notices")
    } catch (error) {
      toast(sentenceOf(error as Error))
    }
  }
  return (
    <section class="stack" aria-label="Notices">
      {data.data.map((notice) => (
        <div class="notice" key={notice.id}>
          <div>
            <h2>{notice.title}</h2>
            <p>{notice.remedy}</p>
            <p class="small quiet">
              {Object.entries(notice.detail).map(([name, value]) => `${name}: ${visible(String(value))}. `)}
              {notice.first_at === notice.last_at
                ? timeText(notice.first_at)
                : `First ${timeText(notice.first_at)}, last ${timeText(notice.last_at)}`}
            </p>
          </div>
          <Button aria-label={`Dismiss: ${notice.title}`} onClick={() => void dismiss(notice)}>
            Dismiss
          </Button>
        </div>
      ))}
    </section>
  )
}
