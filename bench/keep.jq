# jq -s -f keep.jq KEPT MEASURED: a suite that was kept, with the figures that were measured again. Those that were not stay
# as they are. Each that was measured names the time and the commit of its own, and those that are new come last.
.[0] as $kept | .[1] as $measured
| ($measured.figures | map(. + {at: $measured.at, commit: $measured.commit})) as $again
| def newest: . as $one | first($again[] | select(.name == $one.name)) // $one;
  def is_new: .name as $name | $kept.figures | all(.name != $name);
  $kept + {figures: (($kept.figures | map(newest)) + ($again | map(select(is_new))))}
