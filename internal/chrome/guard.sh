# Removes a browser's folder, $1, once the process that owns the browser is gone, however it went.
# Only the owner holds the other end of our input. Each line it sends is the process group to kill at its death;
# an empty line means that none is left.
trap '' HUP INT TERM
group=
while read -r line; do group=$line; done
[ -z "$group" ] || kill -KILL -- "-$group"
tries=0
while [ -e "$1" ] && [ "$tries" -lt 100 ]; do # killed processes may add a last file
	rm -rf -- "$1" || sleep 0.1
	tries=$((tries + 1))
done
