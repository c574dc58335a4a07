import { useEffect, useRef, useState } from "preact/hooks"

/** Whether the element that takes `place` has ever been in sight: what costs a question is asked then. */
export function useSeen<Shown extends Element>() {
  const place = useRef<Shown>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true))
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return { place, seen }
}
